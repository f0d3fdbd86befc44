package io.fibry.durable;

import io.fibry.codec.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * The steps of a turn: those that were done when the message came before, and new ones. Of the
 * handler's thread.
 */
final class Steps {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    @SuppressWarnings("unchecked") // values of this class only
    protected Codec<Object> computeValue(Class<?> type) {
      return (Codec<Object>) Codec.of(type);
    }
  };

  private final Live<?, ?, ?> live;
  private final Optional<String> message; // empty: it will not come again
  private final Map<String, Integer> names = new HashMap<>(0); // how often each was used
  private int done;

  Steps(Live<?, ?, ?> live, Optional<String> message) {
    this.live = live;
    this.message = message;
  }

  String key(String name) {
    return live.id().kind() + "/" + live.id().key() + "/" + known() + "/" + name;
  }

  private String known() {
    return message.orElseThrow(() -> new IllegalStateException("a step of " + live.id()
        + " could not be done again: its message is neither Once nor kept; let the kind keep messages"));
  }

  <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    String id = known();
    var codec = CODECS.get(type);
    int times = names.merge(Objects.requireNonNull(name, "name"), 1, Integer::sum);
    String unique = times == 1 ? name : name + "#" + times;
    var before = live.steps(id);
    int place = done++;
    if (place < before.size()) {
      var stored = before.get(place);
      if (!stored.name().equals(unique))
        throw new StepMismatchException(live.id().toString(), place + 1, stored.name(), unique);
      return type.cast(codec.decode(stored.result()));
    }
    live.awaitLast();
    R result = Objects.requireNonNull(effect.call(), () -> "step '" + unique + "' of " + live.id() + " answered null");
    live.store(new Note.Step(id, unique, codec.encode(result)));
    return result;
  }

  void sleep(String name, Duration time, Delivery delivery) throws Exception {
    if (time.isNegative())
      throw new IllegalArgumentException(
          "sleep '" + name + "' of " + live.id() + " for " + time + "; give zero or more");
    delivery.sleepUntil(step(name, Instant.class, () -> delivery.now().plus(time)));
  }
}
