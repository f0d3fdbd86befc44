package io.fibry.durable.turn;

import io.fibry.Actor;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.durable.Durable;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.durable.storage.StoredNameChecks;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The messages that a turn sends, handles or cancels. Used by the handler's thread. */
final class TurnOutbox {
  static final Duration MAX_DELAY = Duration.ofDays(36_525); // 100 years

  private final Store.ActorId actor;
  private final PendingDelivery delivery;
  private List<StoreBackend.PendingMessage> messages = List.of(); // immutable while it is empty
  // The actor's messages to itself, by id. An empty value removes the message. Immutable while it
  // is empty.
  private Map<String, Optional<StoreBackend.PendingMessage>> ownMessages = Map.of();
  private Optional<StoredMessage<?>> handled = Optional.empty(); // the handled message, if it is stored
  private boolean isCommitted; // whether the effects of a handler are stored with the messages

  TurnOutbox(Store.ActorId actor, PendingDelivery delivery) {
    this.actor = actor;
    this.delivery = delivery;
  }

  <N> void send(Durable<N> to, String key, N message, Actor<?> self) {
    var kind = ((DurableDefinition<?, ?, N>) Objects.requireNonNull(to, "to")).kind();
    add(kind.toPendingMessage(key, message, delivery.now(), delivery.blockBuilder.contextText(self, message)));
  }

  private void add(StoreBackend.PendingMessage message) {
    if (messages.isEmpty()) messages = new ArrayList<>(1);
    messages.add(message);
  }

  private void putOwn(String id, Optional<StoreBackend.PendingMessage> message) {
    if (ownMessages.isEmpty()) ownMessages = new LinkedHashMap<>(2);
    ownMessages.put(id, message);
  }

  void setReminder(String name, Mail mail, Duration delay) {
    String id = reminderId(name);
    if (!delay.isPositive() || delay.compareTo(MAX_DELAY) > 0)
      throw new IllegalArgumentException("reminder '" + Lines.line(name) + "' of " + actor + " would come after "
          + Durations.text(delay) + "; give more than zero, and at most 100 years");
    putOwn(id,
        Optional
            .of(new StoreBackend.PendingMessage(actor, id, roundUpToMillis(delivery.now().plus(delay)), mail.bytes())));
  }

  void cancelReminder(String name) {
    putOwn(reminderId(name), Optional.empty());
  }

  private String reminderId(String name) {
    return Mail
        .reminderId(
            StoredNameChecks.checkText(() -> "the name of a reminder of " + actor,
                Objects.requireNonNull(name, "name")));
  }

  /** Called before the effects of a handler are stored with these messages. */
  void markCommitted() {
    isCommitted = true;
  }

  /** Begins the storing of this turn at the context propagators, if it is a commit. */
  StepObservation beginStoring() {
    return isCommitted ? DurableStep.beginCommit(delivery.blockBuilder, actor) : StepObservation.NONE;
  }

  /** Returns the stored message that this turn handles. */
  Optional<StoredMessage<?>> handled() {
    return handled;
  }

  /** Records that this turn handles a message: removes it, or sets a repeating reminder again. */
  void markHandled(StoredMessage<?> message) {
    handled = Optional.of(message);
    if (ownMessages.containsKey(message.id())) return;
    putOwn(message.id(), message.mail().every().map(period -> nextReminder(message, period)));
  }

  private StoreBackend.PendingMessage nextReminder(StoredMessage<?> reminder, Duration period) {
    long missedPeriods = Math.max(0, Duration.between(reminder.due(), delivery.now()).dividedBy(period));
    var due = reminder.due().plus(period.multipliedBy(missedPeriods + 1));
    return new StoreBackend.PendingMessage(actor, reminder.id(), roundUpToMillis(due), reminder.mail().bytes());
  }

  /** Rounds up to the precision in which stores keep times. */
  private static Instant roundUpToMillis(Instant due) {
    return Instant.ofEpochMilli(due.plusNanos(999_999).toEpochMilli());
  }

  /** Adds the message in its parked form, which waits for an operator. */
  void park(StoredMessage<?> stored, byte[] message, String reason) {
    var failure = new Mail.Failed(Mail.brief(reason), delivery.now());
    var mail = new Mail(message, Optional.empty(), Optional.of(failure), stored.mail().context());
    add(
        new StoreBackend.PendingMessage(actor, Mail.parkedId(stored.uniqueId()), StoreBackend.PendingMessage.NEVER,
            mail.bytes()));
  }

  /** Cancels these reminders, and all reminders that this turn has set. */
  void cancelAll(Set<String> reminderIds) {
    if (!ownMessages.isEmpty()) ownMessages.replaceAll((id, message) -> Optional.empty());
    for (var id : reminderIds) putOwn(id, Optional.empty());
  }

  /** Returns the ids of the actor's messages to itself that the turn sets, replaces or removes. */
  Set<String> ownIds() {
    return ownMessages.keySet();
  }

  boolean isEmpty() {
    return messages.isEmpty() && ownMessages.isEmpty();
  }

  List<String> handledIds() {
    if (ownMessages.isEmpty()) return List.of();
    return ownMessages.entrySet().stream().filter(entry -> entry.getValue().isEmpty()).map(Map.Entry::getKey).toList();
  }

  List<StoreBackend.PendingMessage> messagesToSend() {
    if (isEmpty()) return List.of();
    var toSend = new ArrayList<>(messages);
    ownMessages.values().forEach(message -> message.ifPresent(toSend::add));
    return toSend;
  }
}
