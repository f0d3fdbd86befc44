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

/** How one message is handled, and tried again. */
abstract class MessageRun extends HandlerContext {
  Object node; // the node that holds the current message, or the next one; null without the right to run
  Object answer; // inline requests only; null if the request holds the answer

  MessageRun(Cell cell) {
    super(cell);
  }

  /** On its asker's thread. */
  abstract boolean isInline();

  final void deliver(Object given, RequestFuture<?> asked, Baggage with) {
    if (with == null && !JfrEvents.isRecordingMessages()) deliver(given, asked);
    else deliverRecorded(given, asked, with);
  }

  /** The recorded time includes the making of the state, and a failure. */
  private void deliverRecorded(Object given, RequestFuture<?> asked, Baggage with) {
    var carriers = cell.settings().contextPropagators();
    var toClose = with == null ? null : with.newCloseables();
    startedAt = 0;
    message = given; // already here: for a killer, while a carrier works
    request = asked;
    baggage = with;
    boolean isAsked = with != null && !with.askers.isEmpty();
    var outer = isAsked ? AskChainLocals.beginHandling(with.askers) : null;
    try {
      if (toClose != null) restoreBaggage(toClose);
      Object event = JfrEvents.begin(isInline() ? 0 : with == null ? JfrEvents.UNKNOWN : with.waitedNanos());
      deliver(given, asked);
      if (event != null) JfrEvents.end(event, cell, given);
    } finally {
      baggage = null;
      if (isAsked) AskChainLocals.endHandling(outer);
      if (toClose != null) Baggage.close(carriers, publicActor(), toClose);
      if (ownsThread()) Thread.interrupted();
    }
  }

  private void restoreBaggage(AutoCloseable[] toClose) {
    try {
      baggage.restore(cell.settings().contextPropagators(), publicActor(), EngineMessage.unwrap(message), toClose);
    } catch (Throwable edge) { // of the stack: continues without the recording
    }
  }

  private Actor<?> publicActor() {
    return (Actor<?>) cell.publicCell();
  }

  private void deliver(Object given, RequestFuture<?> asked) {
    startedAt = 0; // before the message: an observer must not find it with the time of the last one
    message = given;
    request = asked;
    try {
      if (!isInline()) startedAt = CoarseClock.systemTime(); // it costs a tenth of an inline request
      attempt(given);
    } catch (Throwable failure) {
      fail(failure, given);
    } finally {
      if (received != null) failOpenRequests(null);
      message = null;
      request = null;
      stashed = false;
      if (countedElsewhere) resumeCounting();
      if (ownsThread()) Thread.interrupted(); // meant for this message
    }
  }

  private void attempt(Object given) throws Exception {
    if (given instanceof EngineMessage task) task.task().run();
    else answer(cell.behavior.handle(this, given));
    if (!stashed) countOutcome(given, false);
  }

  private void fail(Throwable failure, Object given) {
    for (int tries = 0;; tries++) {
      var refusal = RequestFailures.requestExceptionIn(failure);
      if (refusal != null) withdrawRefused(refusal);
      var policy = FailureHandler.policy(cell, failure);
      if (ownsThread()) Thread.interrupted(); // before the phase is read: a killer writes it, then interrupts
      if (tries >= policy.retries() || !isRepeatable(given)) {
        FailureHandler.handle(this, failure, policy);
        return;
      }
      if (received != null) failOpenRequests(failure);
      try {
        attempt(given);
        return;
      } catch (Throwable again) {
        failure = again;
      }
    }
  }

  @Override
  final int redeliver(int most) {
    int times = isRepeatable(message) ? cell.extras().restarts().countRedelivery(node, most) : 0;
    if (times == 0) return 0;
    countElsewhere();
    if (node instanceof Envelope envelope) envelope.message = message; // it has kept its baggage
    else if (!request.stash(message, baggage)) return 0; // its asker no longer waits
    firstSeen = null; // the message will be handled again, with a new beginning
    redelivered = true;
    if (cell.isSelective() && !cell.extras().stash.isEmpty()) { // the stash comes first
      cell.putBack(List.of(node));
      node = Envelope.NOTHING;
    }
    return times;
  }

  private boolean isRepeatable(Object given) {
    return !(given instanceof EngineMessage) && !stashed && !cell.isEnding()
        && (request == null || request.isOpen() && !request.isDone());
  }

  private void answer(Object value) {
    if (request == null || stashed || !request.isOpen()) return;
    if (value == ActorBehavior.NONE) fail(request, message, RequestFailures.noReply(cell, message));
    else if (value == null) throw new NullPointerException(
        "actor '" + cell.name() + "' answered null to " + cell.describe(message)
            + "; let it answer an Optional, or Done");
    else if (isInline()) answer = value;
    else if (request.hasDeclaredType && !AnswerType.of(message).isInstance(value))
      fail(request, message, AnswerType.refused(cell, message, value));
    else request.finish(value);
  }
}
