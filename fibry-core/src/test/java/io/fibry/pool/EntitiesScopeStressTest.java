package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.ContextPropagator;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.flow.MultiAsk;
import io.fibry.pubsub.Topic;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests random uses of entities in a scope that propagates the tenant and hides message contents.
 * Each handler must see the right tenant, no log or exception may show the text of a message, and
 * the root scope must get no dead letter.
 */
class EntitiesScopeStressTest {
  private static final long SEED = StressRuns.seed();
  private static final int THREADS = 4;
  private static final int KEYS = 6;
  private static final int USES = Soak.ON ? 20_000 : 400; // calls by each thread
  private static final Duration IDLE = Duration.ofMillis(8);
  private static final Duration LIMIT = Duration.ofMillis(3);
  private static final String SECRET = "a secret of ";
  private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

  private record Order(String tenant) {
    @Override
    public String toString() {
      return SECRET + tenant;
    }
  }

  private final ContextPropagator<String> propagator = new ContextPropagator<>() {
    @Override
    public String capture() {
      return TENANT.get();
    }

    @Override
    public AutoCloseable restore(String captured) {
      var outerTenant = TENANT.get();
      TENANT.set(captured);
      return () -> TENANT.set(outerTenant);
    }
  };

  private final AtomicLong births = new AtomicLong();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final ActorScope.Options rootOptions = ActorScope.Options.defaults();
  private final ActorScope scope = ActorSystem.openScope("shop",
      o -> o.withContextPropagator(propagator).withMessageContents(false).withAskLimit(LIMIT)
          .withDeadLetterListener(letter -> {}));
  private final Entities.WithReturn<Integer, Order, String> orders = Entities.openWithReturn(
      scope.named("order").onFailure(FailurePolicy.resume()), IDLE, this::birth);
  private final Topic<Order> topic = Topic.open(scope.anonymous());

  @AfterEach
  void close() {
    ActorSystem.configure(o -> rootOptions);
    scope.closeWithin(Duration.ZERO);
  }

  private ActorWithReturn<Order, String> birth(ActorBuilder<Object> builder, Integer key) {
    var random = new SplittableRandom(SEED ^ births.incrementAndGet());
    if (random.nextInt(4) == 0) LockSupport.parkNanos(random.nextInt(5_000_000));
    if (random.nextInt(20) == 0) throw new IllegalArgumentException("planned");
    return builder.newActorWithReturn(this::handle);
  }

  private String handle(Order order, ActorContext<Order> context) {
    if (!order.tenant.equals(TENANT.get()))
      violations.add(order.tenant + " was handled with the tenant " + TENANT.get());
    if (order.tenant.hashCode() % 50 == 0) throw new IllegalStateException("planned");
    return order.tenant;
  }

  @Test
  void contextAndDeadLettersOfEntitiesStayInTheirScope() {
    System.out.println("entities in a scope: -Dfibry.seed=" + SEED);
    ActorSystem.configure(o -> o.withDeadLetterListener(letter -> {
      if (letter.message() instanceof Order order)
        violations.add("the root scope got a dead letter of " + order.tenant);
    }));
    for (int key = 0; key < KEYS; key += 2) topic.subscribe(orders.actor(key));

    try (var logged = new Logged()) {
      var users = new ArrayList<Thread>();
      for (int i = 0; i < THREADS; i++) {
        var random = new SplittableRandom(SEED + i);
        String name = "t" + i + "-";
        users.add(Patience.startFiber(() -> use(random, name)));
      }
      users.forEach(Patience::awaitEnd);
      orders.close();
      topic.close();
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of(), List.copyOf(violations), () -> "-Dfibry.seed=" + SEED);
      assertFalse(logged.text().contains(SECRET), logged::text);
    }
    var report = scope.report();
    assertEquals(report.sent(),
        report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum(), report::toString);
  }

  private void use(SplittableRandom random, String name) {
    for (int i = 0; i < USES; i++) {
      String tenant = name + i;
      TENANT.set(tenant);
      try {
        use(random, new Order(tenant));
      } catch (IllegalArgumentException | IllegalStateException planned) {
        checkShowsNoSecret(planned);
        if (!planned.getMessage().equals("planned")) violations.add(planned.toString());
      } catch (RuntimeException refusal) {
        checkShowsNoSecret(refusal);
      } finally {
        TENANT.remove();
      }
    }
  }

  private void checkShowsNoSecret(Throwable thrown) {
    for (var cause = thrown; cause != null; cause = cause.getCause())
      if (String.valueOf(cause.getMessage()).contains(SECRET))
        violations.add("the secret text was shown: " + cause.getMessage());
  }

  private void use(SplittableRandom random, Order order) {
    var address = orders.actor(random.nextInt(KEYS));
    switch (random.nextInt(12)) {
      case 0, 1 -> address.sendMessage(order);
      case 2, 3 -> checkAnswer(order, address.ask(order));
      case 4 -> checkAnswer(order, address.ask(order, Duration.ofMillis(1 + random.nextInt(20))));
      case 5 -> address.sendMessageReturn(order, LIMIT).whenComplete((answer, failure) -> {
        if (failure == null) checkAnswer(order, answer);
        else checkShowsNoSecret(failure);
      });
      case 6, 7 -> address.sendMessageLater(order, Duration.ofMillis(random.nextInt(4)));
      case 8 -> {
        var actors = List.of(address, orders.actor(random.nextInt(KEYS)), orders.actor(random.nextInt(KEYS)));
        if (random.nextBoolean()) MultiAsk.askAll(actors, order, LIMIT).forEach(answer -> checkAnswer(order, answer));
        else checkAnswer(order, MultiAsk.askFirst(actors, order, LIMIT));
      }
      case 9 -> topic.publish(order);
      case 10 -> end(random).accept(address);
      default -> LockSupport.parkNanos(random.nextInt(12_000_000));
    }
  }

  private static Consumer<Actor<?>> end(SplittableRandom random) {
    return List.<Consumer<Actor<?>>>of(Exitable::askExit, Exitable::kill, Exitable::sendPoisonPill, Exitable::close)
        .get(random.nextInt(4));
  }

  private void checkAnswer(Order order, String answer) {
    if (!order.tenant.equals(answer)) violations.add(order.tenant + " was answered " + answer);
  }
}
