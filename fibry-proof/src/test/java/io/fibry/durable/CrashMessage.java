package io.fibry.durable;

import io.fibry.Request;
import java.util.List;
import java.util.stream.Stream;

/**
 * The messages to actors of a {@link CrashRound}. An operation, {@code op}, is in the state once
 * its turn is stored.
 */
sealed interface CrashMessage {
  /**
   * Adds an operation. Each message that adds an operation is answered with the position of the
   * operation in the state.
   */
  record Add(String op) implements CrashMessage, Request<Add, Integer> {}

  record AddOnce(String op) implements CrashMessage, Request<AddOnce, Integer>, Idempotent {
    @Override
    public String idempotencyKey() {
      return op;
    }
  }

  record Tell(String op) implements CrashMessage {}

  record Remind(String op, long millis) implements CrashMessage, Request<Remind, Integer> {}

  /** Cancels a reminder; the answer is 1 if the reminder has arrived already. */
  record Forget(String op) implements CrashMessage, Request<Forget, Integer> {}

  /** The message of a reminder; adds "r" and the operation that set it. */
  record Reminded(String op) implements CrashMessage {}

  record Forward(String op, String to) implements CrashMessage, Request<Forward, Integer> {}

  /** A message of another actor's turn; adds "f" and the operation of that turn. */
  record Forwarded(String op) implements CrashMessage {}

  /** Adds an operation in steps. */
  record Work(String op) implements CrashMessage, Request<Work, Integer>, Idempotent {
    @Override
    public String idempotencyKey() {
      return op;
    }
  }

  /** Adds an operation to a till, after a step. */
  record Bill(String op) implements CrashMessage, Request<Bill, Integer> {}

  record BillOnce(String op) implements CrashMessage, Request<BillOnce, Integer>, Idempotent {
    @Override
    public String idempotencyKey() {
      return op;
    }
  }

  /** Adds an operation to an order. */
  record Order(String op) implements CrashMessage, Request<Order, Integer> {}

  /** Adds an operation to an order, and ends the order. */
  record End(String op) implements CrashMessage, Request<End, Integer> {}

  /** Reads the operations of an account or till, as {@link #ops} takes them. */
  record All() implements CrashMessage, Request<All, String> {}

  /** Returns the operations of a text, without the marks of their notes. */
  static List<String> ops(String text) {
    return text.isEmpty() ? List.of() : List.of(text.replace("!", "").split(";"));
  }

  /** Returns the operations that have a note. */
  static List<String> opsWithNote(String text) {
    return Stream.of(text.split(";")).filter(op -> op.endsWith("!")).map(op -> op.replace("!", "")).toList();
  }
}
