package io.fibry;

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
  /** More than any contract test sends at once. */
  public static final int CAPACITY = 64;

  public static final Map<String, Strategy> STRATEGIES = strategies();
  /** Those that a simulation can run: the threads of the others are older than it. */
  public static final List<String> SIMULATED = List.of("FIBER", "THREAD", "CALLER", "RESIDENT_FIBER", "own lambda");
  public static final Map<String, Mailbox<Object>> MAILBOXES = mailboxes();

  private Variants() {}

  /** A strategy with a mailbox, and the builders with both. */
  public record Variant(String label, Strategy strategy, Mailbox<Object> mailbox) {
    /** Whether the library makes its threads. */
    public boolean own() {
      return strategy == Strategy.FIBER || strategy == Strategy.THREAD || strategy == Strategy.RESIDENT_FIBER;
    }

    public boolean priority() {
      return mailbox.isOrdered();
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

  public static ActorScope scope(Letters letters) {
    return scope(o -> o.withDeadLetters(letters));
  }

  public static ActorScope scope(UnaryOperator<ActorScope.Options> options) {
    return Scopes.root("test", options.apply(ActorScope.Options.defaults()));
  }

  private static Map<String, Strategy> strategies() {
    var daemons = Thread.ofPlatform().daemon().name("pool-", 0).factory();
    var all = new LinkedHashMap<String, Strategy>();
    all.put("FIBER", Strategy.FIBER);
    all.put("THREAD", Strategy.THREAD);
    all.put("CALLER", Strategy.CALLER);
    all.put("RESIDENT_FIBER", Strategy.RESIDENT_FIBER);
    all.put("of(ForkJoinPool)", Strategy.of(new ForkJoinPool(2)));
    all.put("of(fixed pool)", Strategy.of(Executors.newFixedThreadPool(2, daemons)));
    all.put("own lambda", activation -> daemons.newThread(activation).start());
    return all;
  }

  private static Map<String, Mailbox<Object>> mailboxes() {
    var plain = new ArrayList<Mailbox<Object>>();
    plain.add(Mailbox.unbounded());
    for (var overflow : Overflow.values()) plain.add(Mailbox.bounded(CAPACITY, overflow));
    plain.add(Mailbox.priority((a, b) -> 0)); // all equal: in the order they came
    var all = new LinkedHashMap<String, Mailbox<Object>>();
    var timely = Mailbox.bounded(CAPACITY, Overflow.REJECT).withMaxWait(Duration.ofDays(365));
    all.put(timely.toString(), timely);
    for (var mailbox : plain) for (var one : List.of(mailbox, mailbox.selective())) all.put(one.toString(), one);
    return all;
  }
}
