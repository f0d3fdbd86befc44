package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * Actors that handle many messages in one go: as soon as so many are there, or the first of them
 * has waited so long. Thread-safe.
 * {@snippet class="io.fibry.RecipeSnippetsTest" region="batch"}
 *
 * <p>Two actors are at work: one gathers, and a second one, named after it ("clicks/batch"),
 * handles each batch as one message. So the next batch is gathered meanwhile; and when a full one
 * waits already, gathering stops, the mailbox fills, and senders learn it as they do of any actor:
 * the mailbox holds 1024 messages and makes senders wait, unless the builder or its scope says.
 *
 * <p>A batch whose handling throws has failed as one message: the failure policy decides, retries
 * give it to the handler again, and the dead letter is the whole list or map. A message whose key
 * or merge throws has failed alone, and the batch stays as it is. Code {@code around} messages sees
 * each of them as it is gathered, and no batch.
 *
 * <p>Once gathered, a message counts as handled, and is not forgotten at the end: after
 * {@code askExit}, as after {@code close}, what was gathered is handled; after {@code kill} it is a
 * dead letter.
 */
public final class Batch {
  private Batch() {}

  /**
   * Handles lists of messages, in the order in which they came.
   *
   * @param <M> the messages
   * @param how makes the two actors; no pools, and no mailbox that has an order of its own
   * @param size handled as soon as they are so many; at least 1
   * @param wait handled as soon as the first was taken in so long ago; more than zero
   * @param handler handles a batch: never empty, unmodifiable
   * @return where to send the messages; ending it ends both actors
   */
  public static <M> Actor<M> lists(ActorBuilder<? super M> how, int size, Duration wait, Handler<List<M>> handler) {
    return BatchActor.open(how, new BatchKind<M, List<M>>(ArrayList::new, List::add, Collections::unmodifiableList),
        size, wait,
        handler);
  }

  /**
   * Counts equal messages.
   *
   * @param <M> the messages; fit for keys of a map
   * @param how makes the two actors; no pools, and no mailbox that has an order of its own
   * @param size handled as soon as so many messages were counted, equal ones too; at least 1
   * @param wait handled as soon as the first was taken in so long ago; more than zero
   * @param handler handles a batch: each message once with how often it came, in the order of their
   * first; never empty, unmodifiable
   * @return where to send the messages; ending it ends both actors
   */
  public static <M> Actor<M> counts(ActorBuilder<? super M> how, int size, Duration wait,
      Handler<Map<M, Long>> handler) {
    return BatchActor.open(how, new BatchKind<M, Map<M, Long>>(LinkedHashMap::new,
        (counts, message) -> counts.merge(message, 1L, Long::sum), Collections::unmodifiableMap), size, wait, handler);
  }

  /**
   * Merges messages of one key into one.
   *
   * @param <K> the keys
   * @param <M> the messages
   * @param how makes the two actors; no pools, and no mailbox that has an order of its own
   * @param size handled as soon as so many messages were taken in, merged ones too; at least 1
   * @param wait handled as soon as the first was taken in so long ago; more than zero
   * @param key tells the key of a message; never null
   * @param merge makes one of two: what was merged so far, and the message that came after it;
   * never null
   * @param handler handles a batch: for each key one message, in the order of their first; never
   * empty, unmodifiable
   * @return where to send the messages; ending it ends both actors
   */
  public static <K, M> Actor<M> merged(ActorBuilder<? super M> how, int size, Duration wait, Function<M, K> key,
      BinaryOperator<M> merge, Handler<Map<K, M>> handler) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(merge, "merge");
    BinaryOperator<M> one = (before, message) -> Objects.requireNonNull(merge.apply(before, message),
        "two messages were merged into null; let it be a message");
    var form = new BatchKind<M, Map<K, M>>(
        LinkedHashMap::new, (merged, message) -> merged
            .merge(Objects.requireNonNull(key.apply(message), "the key of a message is null"), message, one),
        Collections::unmodifiableMap);
    return BatchActor.open(how, form, size, wait, handler);
  }
}
