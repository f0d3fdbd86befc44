package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertThrowsExactly;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.durable.Durable.Builder;
import java.time.Duration;
import org.junit.jupiter.api.function.Executable;

/** Runs code of a test in the handler of an actor, with a store in memory. */
abstract class TurnFixture extends StoreFixture {
  static final Duration HOUR = Duration.ofHours(1);

  record Ask(String what) implements Request<Ask, String> {}

  record Noted(String what) {}

  static final Builder<Ask> KIND = Durable.kind("notes", Ask.class);

  TurnFixture() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** Code of a test that a handler runs. */
  interface Try {
    Object run(EventSourcedContext<Long, Noted, Ask> context) throws Exception;
  }

  /** Runs code without a result, and returns an empty text. */
  static Object none(Executable code) throws Exception {
    try {
      code.execute();
      return "";
    } catch (Exception | Error failure) {
      throw failure;
    } catch (Throwable unexpected) {
      throw new AssertionError(unexpected);
    }
  }

  /** Creates the actor 'ada', whose handler runs the code and replies with its result. */
  Actor<Ask> ada(Builder<Ask> kind, Try handler) {
    return kind.events(Noted.class, 0L, (Long n, Noted noted) -> n + 1)
        .handler((n, ask, context) -> context.reply(ask, String.valueOf(handler.run(context))))
        .newActor(scope.named("ada"), store);
  }

  <T extends Throwable> String refused(Builder<Ask> kind, Class<T> type, Try handler) {
    try (var ada = ada(kind, handler)) {
      return assertThrowsExactly(type, () -> ada.ask(new Ask("?"))).getMessage();
    }
  }

  String refused(Try handler) {
    return refused(KIND.storeMessages(9), IllegalArgumentException.class, handler);
  }

  String missing(Try handler) {
    return refused(KIND.storeMessages(9), NullPointerException.class, handler);
  }
}
