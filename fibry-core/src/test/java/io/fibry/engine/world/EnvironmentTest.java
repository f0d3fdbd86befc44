package io.fibry.engine.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.engine.scope.Scope;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a simulated thread has its own instances of objects that exist once per process. */
class EnvironmentTest {

  /** The environment of one run, as a simulation creates it. */
  private static final class TestRun extends Environment {
    private final Thread simulatedThread = Thread.currentThread();
    private final Map<Object, Object> instances = new IdentityHashMap<>();
    private final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    @SuppressWarnings("unchecked") // the key has the same type
    public <T> T instanceFor(T processInstance, Supplier<? extends T> factory) {
      return Thread.currentThread() != simulatedThread ? processInstance
          : (T) instances.computeIfAbsent(processInstance, key -> factory.get());
    }

    @Override
    public void recordEvent(Object actor, Supplier<String> text) {
      events.add(((Actor<?>) actor).name() + " " + text.get());
    }
  }

  private final ActorScope processRoot = ActorSystem.root();

  /** Makes this thread a simulated thread of a new run. */
  private static TestRun enterNewRun() {
    var run = new TestRun();
    Environment.simulated = run;
    return run;
  }

  @AfterEach
  void leaveRun() {
    Environment.simulated = null;
  }

  @Test
  void simulatedRunHasItsOwnRootScope() {
    enterNewRun();
    var root = ActorSystem.root();

    assertNotSame(processRoot, root);
    assertSame(root, ActorSystem.root());
    assertEquals("root", root.name());
    assertTrue(root.actors().isEmpty());
  }

  @Test
  void unsimulatedThreadSeesRootScopeOfProcess() {
    enterNewRun();
    var root = new CompletableFuture<ActorScope>();

    Patience.startFiber(ActorSystem::root, root);

    assertSame(processRoot, Patience.value(root));
  }

  @Test
  void nextSimulatedRunHasNewRootScope() {
    enterNewRun();
    ActorSystem.configure(o -> o.withKillGrace(Duration.ZERO));
    ActorSystem.named("of first run").protocol(String.class).newActor(message -> {});
    var firstRoot = ActorSystem.root();

    enterNewRun();

    assertNotSame(firstRoot, ActorSystem.root());
    assertEquals(Optional.empty(), ActorSystem.find("of first run", String.class));
    assertEquals(ActorScope.Options.defaults().killGrace(), ((Scope) ActorSystem.root()).options()
        .killGrace());
  }

  @Test
  void staticMethodsCreateActorsInRootScopeOfSimulatedRun() {
    enterNewRun();
    ActorSystem.named("inside").protocol(String.class).newActor(message -> {});
    ActorSystem.openScope("scope").close();

    assertEquals(1, ActorSystem.root().actors().size());
    assertTrue(ActorSystem.find("inside", String.class).isPresent());
    Environment.simulated = null;
    assertEquals(Optional.empty(), ActorSystem.find("inside", String.class));
  }

  @Test
  void recipesCreateActorsInRootScopeOfSimulatedRun() {
    enterNewRun();
    Stereotypes.fibers();
    enterNewRun();

    Stereotypes.fibers().sink("state").execAndWait(state -> {});
    Stereotypes.threads().sink("state").execAndWait(state -> {});

    Patience.eventually(() -> ActorSystem.root().report().handled() == 2);
  }

  @Test
  void closedRootScopeOfSimulatedRunAcceptsNewActors() {
    enterNewRun();
    var actor = ActorSystem.named("inside").newActor((String message) -> {});

    ActorSystem.root().close();

    assertTrue(actor.onExit().isDone());
    ActorSystem.named("inside").newActor((String message) -> {}).close();
  }

  @Test
  void timersOfSystemSchedulerUseClockOfSimulatedRun() {
    var run = enterNewRun();
    var clock = new ManualScheduler();
    var fired = new ArrayList<String>();
    run.instances.put(Scheduler.system(), clock);

    Scheduler.system().schedule(Duration.ofSeconds(5), () -> fired.add("once"));
    Scheduler.system().scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> fired.add("rate"));
    Scheduler.system().scheduleWithFixedDelay(Duration.ofSeconds(2), Duration.ofSeconds(2), () -> fired.add("delay"));
    var cancelledTimer = Scheduler.system().schedule(Duration.ofSeconds(1), () -> fired.add("cancelled"));
    assertTrue(cancelledTimer.cancel());
    clock.advance(Duration.ofSeconds(5));

    assertEquals(List.of("rate", "delay", "rate", "delay", "once", "rate"), fired);
  }

  @Test
  void askLimitUsesClockOfSimulatedRun() {
    var run = enterNewRun();
    var clock = new ManualScheduler();
    run.instances.put(Scheduler.system(), clock);
    var actor = ActorSystem.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.passUninterruptibly();
      return message;
    });
    var gate = new Gate();
    actor.sendMessage(gate);
    var answer = actor.sendMessageReturn("late", Duration.ofHours(1));

    clock.advance(Duration.ofHours(1));

    assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
    gate.open();
  }

  @Test
  void simulatedRunWithoutClockUsesClockOfProcess() {
    enterNewRun();
    var fired = new CompletableFuture<Boolean>();

    Scheduler.system().schedule(Duration.ZERO, () -> fired.complete(true));

    assertTrue(Patience.value(fired));
  }

  @Test
  void simulatedRunRecordsFailuresAndRestarts() {
    var run = enterNewRun();
    try (var scope = ActorSystem.openScope("watched",
        options -> options.withFailurePolicy(FailurePolicy.restartAll().withoutLog()))) {
      var healthyActor = scope.named("healthy").newActorWithReturn((Integer number) -> number);
      var failingActor = scope.named("failing").onFailure(FailurePolicy.escalate()).newActorWithReturn((Integer n) -> {
        if (n == 5) throw new IllegalStateException("5 is refused");
        return n;
      });
      assertThrows(IllegalStateException.class, () -> failingActor.ask(5));
      assertEquals(6, failingActor.ask(6));
      healthyActor.ask(1);
    }

    assertEquals(Set.of("healthy restarts, because another actor failed", "failing failed at 5; its scope 'watched'"
        + " decides: it restarts; java.lang.IllegalStateException: 5 is refused"), Set.copyOf(run.events));
  }
}
