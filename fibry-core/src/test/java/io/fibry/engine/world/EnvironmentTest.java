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
import io.fibry.Gate;
import io.fibry.engine.scope.Scope;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
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

/** A thread of a simulation has its own of what the process has once. */
class EnvironmentTest {

  /** A world like the one that a simulation makes for each run. */
  private static final class Run extends Environment {
    private final Thread inside = Thread.currentThread();
    private final Map<Object, Object> singles = new IdentityHashMap<>();
    private final List<String> notes = new CopyOnWriteArrayList<>();

    @Override
    @SuppressWarnings("unchecked") // each is kept by what it stands for
    public <T> T instanceFor(T ofProcess, Supplier<? extends T> maker) {
      return Thread.currentThread() != inside ? ofProcess
          : (T) singles.computeIfAbsent(ofProcess, none -> maker.get());
    }

    @Override
    public void recordEvent(Object actor, Supplier<String> what) {
      notes.add(((Actor<?>) actor).name() + " " + what.get());
    }
  }

  private final ActorScope ofProcess = ActorSystem.root();

  /** This thread is in a new one from now on. */
  private static Run enter() {
    var run = new Run();
    Environment.simulated = run;
    return run;
  }

  @AfterEach
  void leaves() {
    Environment.simulated = null;
  }

  @Test
  void aRunHasARootOfItsOwn() {
    enter();
    var root = ActorSystem.root();

    assertNotSame(ofProcess, root);
    assertSame(root, ActorSystem.root());
    assertEquals("root", root.name());
    assertTrue(root.actors().isEmpty());
  }

  @Test
  void otherThreadsKeepTheRootOfTheProcess() {
    enter();
    var seen = new CompletableFuture<ActorScope>();

    Thread.ofVirtual().start(() -> seen.complete(ActorSystem.root()));

    assertSame(ofProcess, Patience.value(seen));
  }

  @Test
  void theNextRunBeginsAnew() {
    enter();
    ActorSystem.configure(o -> o.withKillGrace(Duration.ZERO));
    ActorSystem.named("left over").protocol(String.class).newActor(message -> {});
    var before = ActorSystem.root();

    enter();

    assertNotSame(before, ActorSystem.root());
    assertEquals(Optional.empty(), ActorSystem.find("left over", String.class));
    assertEquals(ActorScope.Options.defaults().killGrace(), ((Scope) ActorSystem.root()).options()
        .killGrace());
  }

  @Test
  void staticMethodsMakeActorsInRootOfRun() {
    enter();
    ActorSystem.named("inside").protocol(String.class).newActor(message -> {});
    ActorSystem.openScope("scope").close();

    assertEquals(1, ActorSystem.root().actors().size());
    assertTrue(ActorSystem.find("inside", String.class).isPresent());
    Environment.simulated = null;
    assertEquals(Optional.empty(), ActorSystem.find("inside", String.class));
  }

  @Test
  void recipesMakeActorsInRootOfRun() {
    enter();
    Stereotypes.fibers();
    enter();

    Stereotypes.fibers().sink("state").execAndWait(state -> {});
    Stereotypes.threads().sink("state").execAndWait(state -> {});

    Patience.eventually(() -> ActorSystem.root().report().handled() == 2);
  }

  @Test
  void theRootOfARunCloses() {
    enter();
    var actor = ActorSystem.named("inside").newActor((String message) -> {});

    ActorSystem.root().close();

    assertTrue(actor.onExit().isDone());
    ActorSystem.named("inside").newActor((String message) -> {}).close();
  }

  @Test
  void timersOfTheSystemRunByTheClockThatARunWasGiven() {
    var run = enter();
    var clock = new ManualScheduler();
    var ran = new ArrayList<String>();
    run.singles.put(Scheduler.system(), clock);

    Scheduler.system().schedule(Duration.ofSeconds(5), () -> ran.add("once"));
    Scheduler.system().scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> ran.add("rate"));
    Scheduler.system().scheduleWithFixedDelay(Duration.ofSeconds(2), Duration.ofSeconds(2), () -> ran.add("delay"));
    var cancelled = Scheduler.system().schedule(Duration.ofSeconds(1), () -> ran.add("cancelled"));
    assertTrue(cancelled.cancel());
    clock.advance(Duration.ofSeconds(5));

    assertEquals(List.of("rate", "delay", "rate", "delay", "once", "rate"), ran);
  }

  @Test
  void limitsByTheClockOfTheSystemEndByTheClockThatARunWasGiven() {
    var run = enter();
    var clock = new ManualScheduler();
    run.singles.put(Scheduler.system(), clock);
    var actor = ActorSystem.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.passDeaf();
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
  void aRunWithoutAClockHasThatOfTheProcess() {
    enter();
    var ran = new CompletableFuture<Boolean>();

    Scheduler.system().schedule(Duration.ZERO, () -> ran.complete(true));

    assertTrue(Patience.value(ran));
  }

  @Test
  void aRunIsToldOfFailuresAndRestarts() {
    var run = enter();
    try (var scope = ActorSystem.openScope("watched",
        options -> options.withFailurePolicy(FailurePolicy.restartAll().withoutLog()))) {
      var healthy = scope.named("healthy").newActorWithReturn((Integer number) -> number);
      var failing = scope.named("failing").onFailure(FailurePolicy.escalate()).newActorWithReturn((Integer number) -> {
        if (number == 5) throw new IllegalStateException("none of 5");
        return number;
      });
      assertThrows(IllegalStateException.class, () -> failing.ask(5));
      assertEquals(6, failing.ask(6));
      healthy.ask(1);
    }

    assertEquals(Set.of("healthy restarts, since another actor failed", "failing failed at 5; its scope 'watched'"
        + " decides: it restarts; java.lang.IllegalStateException: none of 5"), Set.copyOf(run.notes));
  }
}
