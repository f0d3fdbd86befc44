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
 * Actors that handle messages in batches. A batch is handled when it has {@code size} messages, or
 * when {@code wait} has passed since its first message. Thread-safe.
 * {@snippet class="io.fibry.FlowSnippetsTest" region="batch"}
 *
 * <p>One actor gathers messages. Another actor, named after it ("clicks/batch"), handles each batch
 * as one message; both end together. While a full batch waits for that actor, the mailbox of the
 * gathering actor fills, and senders wait. That mailbox is {@code bounded(1024, BLOCK)} by default.
 * A builder of pools, or with a priority mailbox, is refused.
 *
 * <p>A batch fails as one message: a retry handles the whole batch again, and the dead letter is
 * the whole list or map. If a key or merge function throws, only the message that was being added
 * fails. The builder's interceptors see single messages.
 *
 * <p>A gathered message counts as handled. After {@code close} or {@code askExit}, the last batch
 * is handled, even if it is not full. After {@code kill} it becomes a dead letter.
 */
public final class Batch {
  private Batch() {}

  /**
   * Handles lists of messages, in order of arrival.
   *
   * @param <M> messages
   * @param builder makes both actors
   * @param size number of messages in a full batch; at least 1
   * @param wait how long a batch waits for more messages after its first; more than zero
   * @param handler takes unmodifiable batches, never empty
   * @return the gathering actor
   */
  public static <M> Actor<M> ofLists(ActorBuilder<? super M> builder, int size, Duration wait,
      Handler<List<M>> handler) {
    var kind = new BatchKind<M, List<M>>(ArrayList::new, List::add, Collections::unmodifiableList);
    return BatchActor.open(builder, kind, size, wait, handler);
  }

  /**
   * Handles maps that count equal messages.
   *
   * @param <M> messages; usable as map keys
   * @param builder makes both actors
   * @param size number of messages in a full batch, including equal messages; at least 1
   * @param wait how long a batch waits for more messages after its first; more than zero
   * @param handler takes unmodifiable maps, whose keys are in the order in which they first arrived
   * @return the gathering actor
   */
  public static <M> Actor<M> ofCounts(ActorBuilder<? super M> builder, int size, Duration wait,
      Handler<Map<M, Long>> handler) {
    var kind = new BatchKind<M, Map<M, Long>>(LinkedHashMap::new,
        (counts, message) -> counts.merge(message, 1L, Long::sum), Collections::unmodifiableMap);
    return BatchActor.open(builder, kind, size, wait, handler);
  }

  /**
   * Handles maps in which messages of the same key are merged.
   *
   * @param <K> keys
   * @param <M> messages
   * @param builder makes both actors
   * @param size number of messages in a full batch, including merged messages; at least 1
   * @param wait how long a batch waits for more messages after its first; more than zero
   * @param key returns the key of a message, never null
   * @param merge merges a message with a later message; never returns null
   * @param handler takes unmodifiable maps, whose keys are in the order in which they first arrived
   * @return the gathering actor
   */
  public static <K, M> Actor<M> ofMerged(ActorBuilder<? super M> builder, int size, Duration wait, Function<M, K> key,
      BinaryOperator<M> merge, Handler<Map<K, M>> handler) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(merge, "merge");
    BinaryOperator<M> merger = (earlier, message) -> Objects.requireNonNull(merge.apply(earlier, message),
        "merge answered null for two messages; let it answer a message");
    var kind = new BatchKind<M, Map<K, M>>(
        LinkedHashMap::new, (merged, message) -> merged
            .merge(Objects.requireNonNull(key.apply(message), "the key of a message is null"), message, merger),
        Collections::unmodifiableMap);
    return BatchActor.open(builder, kind, size, wait, handler);
  }
}
