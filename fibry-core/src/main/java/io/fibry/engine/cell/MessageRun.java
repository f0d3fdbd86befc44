package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.engine.jvm.AskChainLocals;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.message.AnswerType;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import java.util.List;

/**
 * Delivers one message to the handler, retries the message after a failure, and prepares its
 * redelivery.
 */
abstract class MessageRun extends HandlerContext {
  Object node; // the node of the current message, or the next node; null without the right to run
  Object answer; // inline requests only; null if the answer is in the request

  MessageRun(Cell cell) {
    super(cell);
  }

  /** Returns whether the handler runs on the thread of its asker. */
  abstract boolean isInline();

  final void deliver(Object newMessage, RequestFuture<?> newRequest, Baggage newBaggage) {
    if (newBaggage == null && !JfrEvents.isRecordingMessages()) deliver(newMessage, newRequest);
    else deliverRecorded(newMessage, newRequest, newBaggage);
  }

  /**
   * Delivers a message with its baggage, and records an event of the flight recorder. The recorded
   * time includes making the state and handling a failure.
   */
  private void deliverRecorded(Object newMessage, RequestFuture<?> newRequest, Baggage newBaggage) {
    var propagators = cell.settings().contextPropagators();
    var closeables = newBaggage == null ? null : newBaggage.newCloseables();
    startedAt = 0;
    message = newMessage; // set before the propagators run, so that a killer sees the message
    request = newRequest;
    baggage = newBaggage;
    boolean hasAskers = newBaggage != null && !newBaggage.askers.isEmpty();
    var outerAskers = hasAskers ? AskChainLocals.beginHandling(newBaggage.askers) : null;
    try {
      if (closeables != null) restoreBaggage(closeables);
      Object event = JfrEvents.begin(isInline() ? 0 : newBaggage == null ? JfrEvents.UNKNOWN
          : newBaggage.waitedNanos());
      deliver(newMessage, newRequest);
      if (event != null) JfrEvents.end(event, cell, newMessage);
    } finally {
      baggage = null;
      if (hasAskers) AskChainLocals.endHandling(outerAskers);
      if (closeables != null) Baggage.close(propagators, publicActor(), closeables);
      if (ownsThread()) Thread.interrupted();
    }
  }

  private void restoreBaggage(AutoCloseable[] closeables) {
    try {
      baggage.restore(cell.settings().contextPropagators(), publicActor(), EngineMessage.unwrap(message), closeables);
    } catch (Throwable error) { // no stack: the message is handled, perhaps without its context
    }
  }

  private Actor<?> publicActor() {
    return (Actor<?>) cell.publicCell();
  }

  private void deliver(Object newMessage, RequestFuture<?> newRequest) {
    startedAt = 0; // before the message is set, because an observer must not pair the new message with the old time
    message = newMessage;
    request = newRequest;
    try {
      if (!isInline()) startedAt = CoarseClock.systemTime(); // the clock costs a tenth of an inline request
      attempt(newMessage);
    } catch (Throwable failure) {
      fail(failure, newMessage);
    } finally {
      if (receivedRequests != null) failOpenRequests(null);
      message = null;
      request = null;
      stashed = false;
      if (alreadyCounted) resumeCounting();
      if (ownsThread()) Thread.interrupted(); // clears an interrupt that was meant for this message
    }
  }

  private void attempt(Object currentMessage) throws Exception {
    if (currentMessage instanceof EngineMessage task) task.task().run();
    else answer(cell.behavior.handle(this, currentMessage));
    if (!stashed) countOutcome(currentMessage, false);
  }

  private void fail(Throwable failure, Object currentMessage) {
    for (int tries = 0;; tries++) {
      var requestException = RequestFailures.requestExceptionIn(failure);
      if (requestException != null) withdrawRefused(requestException);
      var policy = FailureHandler.policy(cell, failure);
      if (ownsThread()) Thread.interrupted(); // before the phase is read: a killer writes the phase, then interrupts
      if (tries >= policy.retries() || !isRepeatable(currentMessage)) {
        FailureHandler.handle(this, failure, policy);
        return;
      }
      if (receivedRequests != null) failOpenRequests(failure);
      try {
        attempt(currentMessage);
        return;
      } catch (Throwable nextFailure) {
        failure = nextFailure;
      }
    }
  }

  @Override
  final int redeliver(int max) {
    int times = isRepeatable(message) ? cell.extras().restarts().countRedelivery(node, max) : 0;
    if (times == 0) return 0;
    stopCounting();
    if (node instanceof Envelope envelope) envelope.message = message; // the envelope still has its baggage
    else if (!request.stash(message, baggage)) return 0; // the request is settled: its asker no longer waits
    firstSeen = null; // the message will begin again
    redelivered = true;
    if (cell.isSelective() && !cell.extras().stash.isEmpty()) { // stashed messages come first
      cell.putBack(List.of(node));
      node = Envelope.NOTHING;
    }
    return times;
  }

  private boolean isRepeatable(Object currentMessage) {
    return !(currentMessage instanceof EngineMessage) && !stashed && !cell.isEnding()
        && (request == null || request.isUnanswered() && !request.isDone());
  }

  private void answer(Object value) {
    if (request == null || stashed || !request.isUnanswered()) return;
    if (value == ActorBehavior.NO_ANSWER) fail(request, message, RequestFailures.noReply(cell, message));
    else if (value == null) throw new NullPointerException(
        "actor '" + cell.name() + "' answered null to " + cell.describe(message)
            + "; let it answer an Optional, or Done");
    else if (isInline()) answer = value;
    else if (request.hasDeclaredType && !AnswerType.of(message).isInstance(value))
      fail(request, message, AnswerType.wrongAnswerException(cell, message, value));
    else request.finish(value);
  }
}
