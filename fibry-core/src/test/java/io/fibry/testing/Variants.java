package io.fibry.testing;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Every strategy with every mailbox, for the contract tests. */
public final class Variants {
  /** The capacity of bounded mailboxes. A contract test sends fewer messages at once. */
  public static final int CAPACITY = 64;

  public static final Map<String, Strategy> STRATEGIES = strategies();
  /**
   * Strategies that a simulation can run. The others use thread pools that exist before the
   * simulation begins.
   */
  public static final List<String> SIMULATED = List.of("FIBER", "THREAD", "CALLER", "RESIDENT_FIBER", "own lambda");
  public static final Map<String, Mailbox<Object>> MAILBOXES = mailboxes();

  private Variants() {}

  /** A strategy and a mailbox. The variant creates builders that have both. */
  public record Variant(String label, Strategy strategy, Mailbox<Object> mailbox) {
    /** Returns whether the library creates the threads of the strategy. */
    public boolean usesLibraryThreads() {
      return strategy == Strategy.FIBER || strategy == Strategy.THREAD || strategy == Strategy.RESIDENT_FIBER;
    }

    public boolean isPriority() {
      return mailbox.isPriority();
    }

    public ActorBuilder<Object> builder(ActorScope scope) {
      return scope.anonymous().strategy(strategy).mailbox(mailbox);
    }

    public ActorBuilder<Object> named(ActorScope scope, String name) {
      return scope.named(name).strategy(strategy).mailbox(mailbox);
    }

    @Override
    public String toString() {
      return label;
    }
  }

  public static Stream<Variant> all() {
    return STRATEGIES.entrySet().stream()
        .flatMap(s -> MAILBOXES.entrySet().stream()
            .map(m -> new Variant(s.getKey() + ", " + m.getKey(), s.getValue(), m.getValue())));
  }

  public static Stream<Variant> selective() {
    return all().filter(v -> v.mailbox().isSelective());
  }

  public static Stream<Variant> strategiesAlone() {
    return all().filter(v -> v.mailbox() == Mailbox.unbounded());
  }

  public static ActorScope scope(RecordedLetters letters) {
    return scope(o -> o.withDeadLetterListener(letters));
  }

  public static ActorScope scope(UnaryOperator<ActorScope.Options> options) {
    return Scopes.root("test", options.apply(ActorScope.Options.defaults()));
  }

  private static Map<String, Strategy> strategies() {
    var threadFactory = Thread.ofPlatform().daemon().name("pool-", 0).factory();
    var strategies = new LinkedHashMap<String, Strategy>();
    strategies.put("FIBER", Strategy.FIBER);
    strategies.put("THREAD", Strategy.THREAD);
    strategies.put("CALLER", Strategy.CALLER);
    strategies.put("RESIDENT_FIBER", Strategy.RESIDENT_FIBER);
    strategies.put("of(ForkJoinPool)", Strategy.of(new ForkJoinPool(2)));
    strategies.put("of(fixed pool)", Strategy.of(Executors.newFixedThreadPool(2, threadFactory)));
    strategies.put("own lambda", activation -> threadFactory.newThread(activation).start());
    return strategies;
  }

  private static Map<String, Mailbox<Object>> mailboxes() {
    var basicMailboxes = new ArrayList<Mailbox<Object>>();
    basicMailboxes.add(Mailbox.unbounded());
    for (var overflow : Overflow.values()) basicMailboxes.add(Mailbox.bounded(CAPACITY, overflow));
    basicMailboxes.add(Mailbox.priority((a, b) -> 0)); // all messages are equal and keep their order
    var mailboxes = new LinkedHashMap<String, Mailbox<Object>>();
    var limitedWait = Mailbox.bounded(CAPACITY, Overflow.REJECT).withMaxWait(Duration.ofDays(365));
    mailboxes.put(limitedWait.toString(), limitedWait);
    for (var mailbox : basicMailboxes) for (var m : List.of(mailbox, mailbox.selective()))
      mailboxes.put(m.toString(), m);
    return mailboxes;
  }
}
