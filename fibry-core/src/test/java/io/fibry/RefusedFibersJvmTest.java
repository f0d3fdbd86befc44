package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Child;
import io.fibry.support.Patience;
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

/** Where no fiber can be started when a limit or a grace is over, both end all the same. */
class RefusedFibersJvmTest {

  /** Runs fibers; for a while, no new ones. */
  private static final class Refusing implements Executor {
    private final Executor threads = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
    private final Set<Runnable> known = ConcurrentHashMap.newKeySet(); // one for each fiber
    volatile boolean refuses;

    @Override
    public void execute(Runnable fiber) {
      if (refuses && !known.contains(fiber)) throw new RejectedExecutionException("no fiber now");
      known.add(fiber);
      threads.execute(fiber);
    }

    /** The fibers that it starts have the same scheduler. */
    Thread start(Runnable code) throws ReflectiveOperationException {
      var maker = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder").getDeclaredConstructor(Executor.class);
      maker.setAccessible(true);
      return ((Thread.Builder) maker.newInstance(this)).start(code);
    }
  }

  static final class Refused {
    private static final Refusing FIBERS = new Refusing();
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ManualScheduler CLOCK = new ManualScheduler();

    public static void main(String[] args) throws Exception {
      FIBERS.start(Refused::end).join();
      System.exit(0);
    }

    private static void end() {
      var scope = ActorSystem.openScope("refused", o -> o.withScheduler(CLOCK).withKillGrace(SECOND));
      var begun = new CountDownLatch(1);
      var deaf = scope.anonymous().newActorWithReturn((Object message) -> {
        begun.countDown();
        new Gate().passDeaf();
        return message;
      });
      var asker = Thread.ofVirtual().start(() -> deaf.ask("asked", SECOND));
      Patience.await(begun);
      Patience.parked(asker);
      var future = deaf.sendMessageReturn("sent", SECOND);

      advanceRefusing();
      Patience.joined(asker);
      System.out.println("limit: " + Patience.failure(future).getClass().getSimpleName());

      deaf.kill();
      advanceRefusing();
      System.out.println("grace: " + Patience.value(deaf.onExit()));
    }

    private static void advanceRefusing() {
      FIBERS.refuses = true;
      CLOCK.advance(SECOND);
      FIBERS.refuses = false;
    }
  }

  @Promise({"6.10", "7.5"})
  @Test
  void limitAndKillGraceExpireWhenFibersAreRefused() throws Exception {
    try (var child = Child.java(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED"), Refused.class)) {
      assertEquals("limit: AskTimeoutException\ngrace: Killed", String.join("\n",
          child.ended(0).lines().filter(line -> line.startsWith("limit") || line.startsWith("grace")).toList()));
    }
  }
}
