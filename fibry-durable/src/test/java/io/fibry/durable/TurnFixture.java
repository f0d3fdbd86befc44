package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertThrowsExactly;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.durable.Durable.Builder;
import java.time.Duration;
import org.junit.jupiter.api.function.Executable;

/** A handler that tries what a test says, over a store in memory. */
abstract class TurnFixture extends StoreFixture {
  static final Duration HOUR = Duration.ofHours(1);

  record Ask(String what) implements Request<Ask, String> {}

  record Noted(String what) {}

  static final Builder<Ask> KIND = Durable.kind("notes", Ask.class);

  TurnFixture() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** What a handler tries. */
  interface Try {
    Object run(EventContext<Long, Noted, Ask> context) throws Exception;
  }

  /** One without a result. */
  static Object none(Executable code) throws Exception {
    try {
      code.execute();
      return "";
    } catch (Exception | Error failure) {
      throw failure;
    } catch (Throwable other) {
      throw new AssertionError(other);
    }
  }

  /** Returns the actor, whose tries the handler notes. */
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
