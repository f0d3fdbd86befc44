package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.store.Store;
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

/** What a turn sends by the store, and what it takes back. Used by the handler's thread. */
final class TurnOutbox {
  static final Duration MAX_DELAY = Duration.ofDays(36_525); // 100 years

  private final Store.ActorId from;
  private final PendingDelivery delivery;
  private final List<Store.PendingMessage> messages = new ArrayList<>(0);
  // Messages to itself, by id; empty for a message that is removed
  private final Map<String, Optional<Store.PendingMessage>> ownMessages = new LinkedHashMap<>(0);
  private Optional<StoredMessage<?>> handled = Optional.empty();

  TurnOutbox(Store.ActorId from, PendingDelivery delivery) {
    this.from = from;
    this.delivery = delivery;
  }

  <N> void send(Durable<N> to, String key, N message, Actor<?> self) {
    var kind = ((DurableDefinition<?, ?, N>) Objects.requireNonNull(to, "to")).kind();
    messages.add(kind.toPendingMessage(key, message, delivery.now(), delivery.blockBuilder.contextText(self, message)));
  }

  void setReminder(String name, Mail mail, Duration delay) {
    String id = reminderId(name);
    if (!delay.isPositive() || delay.compareTo(MAX_DELAY) > 0)
      throw new IllegalArgumentException("reminder '" + Lines.line(name) + "' of " + from + " would come after " + delay
          + "; give more than zero, and at most 100 years");
    ownMessages.put(id,
        Optional.of(new Store.PendingMessage(from, id, roundUpToMillis(delivery.now().plus(delay)), mail.bytes())));
  }

  void cancelReminder(String name) {
    ownMessages.put(reminderId(name), Optional.empty());
  }

  private String reminderId(String name) {
    return Mail
        .reminderId(StoredNames.checkText("the name of a reminder of " + from, Objects.requireNonNull(name, "name")));
  }

  /** The kept message of the turn. */
  Optional<StoredMessage<?>> handled() {
    return handled;
  }

  /** The message is done; a reminder that comes again waits for its next time. */
  void markHandled(StoredMessage<?> kept) {
    handled = Optional.of(kept);
    if (ownMessages.containsKey(kept.id())) return;
    ownMessages.put(kept.id(), kept.mail().every().map(period -> nextReminder(kept, period)));
  }

  private Store.PendingMessage nextReminder(StoredMessage<?> kept, Duration period) {
    long missed = Math.max(0, Duration.between(kept.due(), delivery.now()).dividedBy(period));
    var next = kept.due().plus(period.multipliedBy(missed + 1));
    return new Store.PendingMessage(from, kept.id(), roundUpToMillis(next), kept.mail().bytes());
  }

  /** Rounds up to the precision in which stores keep times. */
  private static Instant roundUpToMillis(Instant due) {
    return Instant.ofEpochMilli(due.plusNanos(999_999).toEpochMilli());
  }

  /** The message waits for a human. */
  void park(StoredMessage<?> kept, byte[] message, String reason) {
    var why = new Mail.Failed(Mail.brief(reason), delivery.now());
    var mail = new Mail(message, Optional.empty(), Optional.of(why), kept.mail().context());
    messages
        .add(new Store.PendingMessage(from, Mail.parkedId(kept.uniqueId()), Store.PendingMessage.NEVER, mail.bytes()));
  }

  void cancelAll(Set<String> known) {
    ownMessages.replaceAll((id, set) -> Optional.empty());
    for (var id : known) ownMessages.put(id, Optional.empty());
  }

  /** Returns the ids of messages to itself that are set, replaced or removed. */
  Set<String> ownIds() {
    return ownMessages.keySet();
  }

  boolean isEmpty() {
    return messages.isEmpty() && ownMessages.isEmpty();
  }

  List<String> handledIds() {
    if (ownMessages.isEmpty()) return List.of();
    return ownMessages.entrySet().stream().filter(one -> one.getValue().isEmpty()).map(Map.Entry::getKey).toList();
  }

  List<Store.PendingMessage> messagesToSend() {
    if (isEmpty()) return List.of();
    var sends = new ArrayList<>(messages);
    ownMessages.values().forEach(one -> one.ifPresent(sends::add));
    return sends;
  }
}
