package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/**
 * Tests that the limit of a request and the kill grace take effect, even if no new fiber can be
 * started when they expire.
 */
class RefusedFibersJvmTest {

  /** A scheduler of fibers, which can refuse to start new fibers. */
  private static final class RefusingScheduler implements Executor {
    private final Executor carriers = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
    private final Set<Runnable> startedFibers = ConcurrentHashMap.newKeySet(); // one task for each started fiber
    volatile boolean isRefusing;

    @Override
    public void execute(Runnable fiber) {
      if (isRefusing && !startedFibers.contains(fiber)) throw new RejectedExecutionException("no fiber now");
      startedFibers.add(fiber);
      carriers.execute(fiber);
    }

    /**
     * Starts a fiber on this scheduler. Fibers that are started by this fiber run on the scheduler,
     * too.
     */
    Thread start(Runnable code) throws ReflectiveOperationException {
      var constructor = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
          .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return ((Thread.Builder) constructor.newInstance(this)).start(code);
    }
  }

  static final class RefusalProgram {
    private static final RefusingScheduler FIBERS = new RefusingScheduler();
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ManualScheduler CLOCK = new ManualScheduler();

    public static void main(String[] args) throws Exception {
      FIBERS.start(RefusalProgram::run).join();
      System.exit(0);
    }

    private static void run() {
      var scope = ActorSystem.openScope("refused", o -> o.withScheduler(CLOCK).withKillGrace(SECOND));
      var handlerEntered = new CountDownLatch(1);
      var deafActor = scope.anonymous().newActorWithReturn((Object message) -> {
        handlerEntered.countDown();
        new Gate().passUninterruptibly();
        return message;
      });
      var asker = Thread.ofVirtual().start(() -> deafActor.ask("asked", SECOND));
      Patience.await(handlerEntered);
      Patience.awaitParked(asker);
      var future = deafActor.sendMessageReturn("sent", SECOND);

      advanceWhileRefusing();
      Patience.awaitEnd(asker);
      System.out.println("limit: " + Patience.failure(future).getClass().getSimpleName());

      deafActor.kill();
      advanceWhileRefusing();
      System.out.println("grace: " + Patience.value(deafActor.onExit()));
    }

    private static void advanceWhileRefusing() {
      FIBERS.isRefusing = true;
      CLOCK.advance(SECOND);
      FIBERS.isRefusing = false;
    }
  }

  @Promise({"6.10", "7.5"})
  @Test
  void askLimitAndKillGraceExpireWhenJvmRefusesFibers() throws Exception {
    try (var child = Child.java(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED"), RefusalProgram.class)) {
      assertEquals("limit: AskTimeoutException\ngrace: Killed", String.join("\n",
          child.awaitExit(0).lines().filter(line -> line.startsWith("limit") || line.startsWith("grace")).toList()));
    }
  }
}
