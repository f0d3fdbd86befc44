package io.fibry.durable;

import io.fibry.Request;

/**
 * The messages to actors of a {@link CrashRound}. An op is in the state once its turn is stored.
 */
sealed interface CrashMessage {
  /** Each that adds an op answers its place. */
  record Add(String op) implements CrashMessage, Request<Add, Integer> {}

  record AddOnce(String op) implements CrashMessage, Request<AddOnce, Integer>, Idempotent {
    @Override
    public String idempotencyKey() {
      return op;
    }
  }

  record Tell(String op) implements CrashMessage {}

  record Remind(String op, long millis) implements CrashMessage, Request<Remind, Integer> {}

  /** Answers 1 if the reminder has come. */
  record Forget(String op) implements CrashMessage, Request<Forget, Integer> {}

  /** Comes by a reminder; adds "r" and the op that set it. */
  record Reminded(String op) implements CrashMessage {}

  record Forward(String op, String to) implements CrashMessage, Request<Forward, Integer> {}

  /** Comes from the turn of another actor; adds "f" and its op. */
  record Forwarded(String op) implements CrashMessage {}

  /** In steps. */
  record Work(String op) implements CrashMessage, Request<Work, Integer>, Idempotent {
    @Override
    public String idempotencyKey() {
      return op;
    }
  }

  record All() implements CrashMessage, Request<All, String> {}
}
