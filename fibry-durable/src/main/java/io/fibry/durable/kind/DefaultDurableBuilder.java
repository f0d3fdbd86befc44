package io.fibry.durable.kind;

import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoredNameChecks;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/** The settings of a kind, and the later stages of its builder. */
public record DefaultDurableBuilder<M>(String name, MessageCodecs<M> messages, int snapshotEvery, int maxUnstoredTurns,
    int maxStoredMessages,
    int maxRememberedAnswers,
    Duration rememberedTime, Optional<Duration> retention) implements Durable.Builder<M> {
  private static final Duration MAX_DURATION = Duration.ofDays(365_000_000); // a longer age counts as a million years

  public static <M> DefaultDurableBuilder<M> of(String name, Class<M> messages) {
    Objects.requireNonNull(messages, "messages");
    return new DefaultDurableBuilder<>(StoredNameChecks.checkPlain("kind", name), MessageCodecs.of(messages), 1000,
        1024, 0,
        1000,
        Duration.ofDays(1),
        Optional.empty());
  }

  @Override
  @SuppressWarnings("unchecked") // `initial` is an S
  public <S> Durable.StateStep<S, M> state(S initial) {
    var type = (Class<S>) outermostTypeOf(Objects.requireNonNull(initial, "initial"));
    var codec = codecOf(name, "state", type);
    if (isSingleton(type)) throw new IllegalArgumentException("kind '" + name + "' begins with the only object of "
        + type.getName() + ", so there would be no other state; give all states a sealed interface, or give a codec");
    return state(codec, initial);
  }

  /**
   * Returns the outermost sealed interface of the value, because later states may be of its other
   * types. If a type implements no sealed interface or several, the search ends with this type.
   */
  private static Class<?> outermostTypeOf(Object value) {
    Class<?> type = value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
    while (!type.getName().startsWith("java.")) {
      var sealedInterfaces = Arrays.stream(type.getInterfaces()).filter(Class::isSealed).toList();
      if (sealedInterfaces.size() != 1) break;
      type = sealedInterfaces.getFirst();
    }
    return type;
  }

  /** Returns whether a type with a codec has only one object, so no other state is possible. */
  private static boolean isSingleton(Class<?> type) {
    return !(type.isRecord() || type.isEnum() || type.isSealed() || type.isArray()
        || type.getName().startsWith("java."));
  }

  @Override
  public <S> Durable.StateStep<S, M> state(Codec<S> codec, S initial) {
    var checkedCodec = CheckedCodec.of(codec);
    byte[] bytes = checkedCodec.encode(Objects.requireNonNull(initial, "initial"));
    checkedCodec.decode(bytes); // fails now, not at the first load, if the codec cannot decode the state
    return new DefaultStateStep<>(this, checkedCodec, () -> checkedCodec.decode(bytes));
  }

  /** Returns the codec of a type, or throws if it has none. */
  public static <T> Codec<T> codecOf(String kind, String role, Class<T> type) {
    try {
      return Codec.of(Objects.requireNonNull(type, role));
    } catch (IllegalArgumentException noCodec) {
      throw new IllegalArgumentException(
          "the " + role + " of kind '" + kind + "' cannot be stored: " + Lines.message(noCodec),
          noCodec);
    }
  }

  private record DefaultStateStep<S, M>(DefaultDurableBuilder<M> kind, Codec<S> codec, Callable<S> stateFactory)
      implements Durable.StateStep<S, M> {
    @Override
    public Durable<M> handler(Durable.StateHandler<S, M> handler) {
      Objects.requireNonNull(handler, "handler");
      return handler((state, message, context) -> handler.handle(state, message));
    }

    @Override
    public Durable<M> handler(Durable.StateHandlerWithContext<S, M> handler) {
      Objects.requireNonNull(handler, "handler");
      return new DurableDefinition<S, Void, M>(kind, stateFactory, Optional.of(codec), Optional.empty(),
          (state, event) -> state,
          handler::handle);
    }
  }

  @Override
  public <S, E> Durable.EventsStep<S, E, M> events(Class<E> events, S initial, BiFunction<S, E, S> after) {
    return events(codecOf(name, "events", events), initial, after);
  }

  @Override
  public <S, E> Durable.EventsStep<S, E, M> events(Codec<E> codec, S initial, BiFunction<S, E, S> after) {
    return events(codec, codecOf(Objects.requireNonNull(initial, "initial")), initial, after);
  }

  @Override
  public <S, E> Durable.EventsStep<S, E, M> events(Codec<E> codec, Codec<S> stateCodec, S initial,
      BiFunction<S, E, S> after) {
    var checkedStateCodec = CheckedCodec.of(Objects.requireNonNull(stateCodec, "state"));
    // Fails now, not at the first snapshot, if the codec cannot encode or decode the state.
    checkedStateCodec.decode(checkedStateCodec.encode(Objects.requireNonNull(initial, "initial")));
    return events(codec, Optional.of(checkedStateCodec), initial, after);
  }

  private <S, E> Durable.EventsStep<S, E, M> events(Codec<E> codec, Optional<Codec<S>> stateCodec, S initial,
      BiFunction<S, E, S> applyEvent) {
    if (!Immutability.isImmutable(initial))
      throw new IllegalArgumentException("kind '" + name + "' begins with an object of "
          + initial.getClass().getName()
          + ", which all keys would share, and which can be changed; take initialState(() -> ..)");
    return new DefaultEventsStep<>(this, () -> initial, stateCodec, codec, applyEvent);
  }

  /** Returns the codec of the state; empty if its type has no codec, or only one object. */
  @SuppressWarnings("unchecked") // `initial` is an S
  private static <S> Optional<Codec<S>> codecOf(S initial) {
    var type = (Class<S>) outermostTypeOf(initial);
    try {
      Codec<S> codec = Codec.of(type);
      return isSingleton(type) ? Optional.empty() : Optional.of(codec);
    } catch (IllegalArgumentException noCodec) {
      return Optional.empty();
    }
  }

  @Override
  public <S> Durable.MutableStateStep<S, M> initialState(Callable<? extends S> initial) {
    return new DefaultMutableStateStep<>(this, Objects.requireNonNull(initial, "initial"));
  }

  private record DefaultMutableStateStep<S, M>(DefaultDurableBuilder<M> kind, Callable<? extends S> stateFactory)
      implements Durable.MutableStateStep<S, M> {
    @Override
    public <E> Durable.EventsStep<S, E, M> events(Class<E> events, BiFunction<S, E, S> after) {
      return events(codecOf(kind.name, "events", events), after);
    }

    @Override
    public <E> Durable.EventsStep<S, E, M> events(Codec<E> codec, BiFunction<S, E, S> after) {
      return new DefaultEventsStep<>(kind, stateFactory, Optional.empty(), codec, after);
    }
  }

  private record DefaultEventsStep<S, E, M>(DefaultDurableBuilder<M> kind, Callable<? extends S> stateFactory,
      Optional<Codec<S>> stateCodec,
      Codec<E> eventCodec, BiFunction<S, E, S> applyEvent) implements Durable.EventsStep<S, E, M> {
    DefaultEventsStep {
      eventCodec = CheckedCodec.of(eventCodec);
      Objects.requireNonNull(applyEvent, "after");
    }

    @Override
    public Durable<M> handler(Durable.EventHandler<S, E, M> handler) {
      Objects.requireNonNull(handler, "handler");
      return new DurableDefinition<>(kind, stateFactory, stateCodec, Optional.of(eventCodec), applyEvent,
          (state, message, turn) -> {
            handler.handle(state, message, turn);
            return turn.state();
          });
    }
  }

  @Override
  public DefaultDurableBuilder<M> messages(Codec<M> codec) {
    return new DefaultDurableBuilder<>(name, messages.withCodec(codec), snapshotEvery, maxUnstoredTurns,
        maxStoredMessages, maxRememberedAnswers, rememberedTime,
        retention);
  }

  @Override
  public <R> DefaultDurableBuilder<M> answers(Class<? extends Request<?, R>> request, Codec<R> codec) {
    return new DefaultDurableBuilder<>(name, messages.withAnswerCodec(request, codec), snapshotEvery, maxUnstoredTurns,
        maxStoredMessages, maxRememberedAnswers,
        rememberedTime,
        retention);
  }

  @Override
  public DefaultDurableBuilder<M> storeMessages(int max) {
    return new DefaultDurableBuilder<>(name, messages, snapshotEvery, maxUnstoredTurns,
        requirePositive(max, "storeMessages"), maxRememberedAnswers,
        rememberedTime,
        retention);
  }

  @Override
  public DefaultDurableBuilder<M> deduplicate(int answers, Duration time) {
    if (!Objects.requireNonNull(time, "time").isPositive())
      throw new IllegalArgumentException(
          "kind '" + name + "': deduplicate for " + Durations.text(time) + "; give more than zero");
    return new DefaultDurableBuilder<>(name, messages, snapshotEvery, maxUnstoredTurns, maxStoredMessages,
        requirePositive(answers, "deduplicate"),
        time, retention);
  }

  @Override
  public DefaultDurableBuilder<M> snapshotEvery(int turns) {
    return new DefaultDurableBuilder<>(name, messages, requirePositive(turns, "snapshotEvery"), maxUnstoredTurns,
        maxStoredMessages, maxRememberedAnswers,
        rememberedTime,
        retention);
  }

  @Override
  public DefaultDurableBuilder<M> maxUnstoredTurns(int turns) {
    return new DefaultDurableBuilder<>(name, messages, snapshotEvery, requirePositive(turns, "maxUnstoredTurns"),
        maxStoredMessages,
        maxRememberedAnswers,
        rememberedTime,
        retention);
  }

  public Store.ActorId id(String key) {
    return new Store.ActorId(name, key);
  }

  /** Returns a pending message that is due at once. */
  public StoreBackend.PendingMessage toPendingMessage(String key, M message, Instant now, String context) {
    var actor = id(checkedKey(key));
    byte[] bytes =
        messages.requireCodec().encode(Objects.requireNonNull(message, () -> "the message to " + actor + " is null"));
    return toPendingMessage(key, bytes, now, context);
  }

  public StoreBackend.PendingMessage toPendingMessage(String key, byte[] bytes, Instant now, String context) {
    return new StoreBackend.PendingMessage(id(checkedKey(key)), Mail.newMessageId(now),
        StoreBackend.PendingMessage.ALWAYS,
        Mail.of(bytes, context).bytes());
  }

  @Override
  public Durable.Builder<M> retainEvents(Duration age) {
    if (Objects.requireNonNull(age, "age").isNegative())
      throw new IllegalArgumentException("kind '" + name + "': retainEvents " + Durations.text(age)
          + "; give zero or more");
    var cappedAge = age.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : age;
    return new DefaultDurableBuilder<>(name, messages, snapshotEvery, maxUnstoredTurns, maxStoredMessages,
        maxRememberedAnswers, rememberedTime,
        Optional.of(cappedAge));
  }

  public String checkedKey(String key) {
    return StoredNameChecks.checkText(() -> refusalStart() + "its key", Objects.requireNonNull(key, "key"));
  }

  public IllegalArgumentException invalidDefinition(String reason) {
    return new IllegalArgumentException(refusalStart() + reason);
  }

  /** Returns the beginning of the text of an exception, up to the reason. */
  private String refusalStart() {
    return "an actor of kind '" + name + "' cannot be made: ";
  }

  private int requirePositive(int number, String option) {
    if (number < 1)
      throw new IllegalArgumentException("kind '" + name + "': " + option + " " + number + "; give 1 or more");
    return number;
  }
}
