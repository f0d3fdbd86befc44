package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Several contexts in one JVM: in sequence, side by side, as parent and child, and with a close
 * under load.
 */
class SeveralContextsTest {

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({FibryAutoConfiguration.class, FibryTasksAutoConfiguration.class})
  static class Squares {
    @Bean
    @ActorHandler
    Handler.Returning<Integer, Integer> square() {
      return n -> n * n;
    }
  }

  record Client(ActorWithReturn<Integer, Integer> square) {}

  private static SpringApplicationBuilder application() {
    return new SpringApplicationBuilder(Squares.class, Client.class).web(WebApplicationType.NONE).properties(
        "spring.main.banner-mode=off", "spring.main.register-shutdown-hook=false", "fibry.executor.tasks.enabled=true",
        "fibry.drain-limit=" + Patience.LONG);
  }

  private static ActorWithReturn<Integer, Integer> square(ConfigurableApplicationContext context) {
    return context.getBean(Client.class).square();
  }

  @Test
  void parallelContextsAreIndependent() {
    try (var one = application().run()) {
      var other = application().run();
      assertNotSame(one.getBean(ActorScope.class), other.getBean(ActorScope.class));
      var gone = square(other);
      other.close();

      assertThrows(ActorStoppedException.class, () -> gone.ask(3));
      assertEquals(9, square(one).ask(3));
    }
  }

  @Test
  void childContextEndsOnlyItsOwnActors() {
    try (var parent = application().run()) {
      var child = application().parent(parent).run();
      assertNotSame(parent.getBean(ActorScope.class), child.getBean(ActorScope.class));
      assertNotSame(square(parent), square(child));
      var gone = square(child);
      child.close();

      assertThrows(ActorStoppedException.class, () -> gone.ask(3));
      assertEquals(9, square(parent).ask(3));
    }
  }

  /** Contexts in sequence, as devtools and test runs have them. */
  @Test
  void consecutiveContextsLeaveNothingBehind() {
    long before = scopes();

    for (int i = 0; i < 3; i++) {
      try (var context = application().run("--fibry.name=passing")) {
        assertEquals(9, square(context).ask(3));
      }
    }

    // an actor that has ended is in the dump until its thread has left it
    Patience.eventually(() -> !ActorSystem.root().dump().contains("scope 'passing'") && scopes() <= before);
  }

  /** Counts all scopes of this JVM; scopes of other tests may end meanwhile. */
  private static long scopes() {
    return ActorSystem.root().dump().lines().filter(line -> line.strip().startsWith("scope '")).count();
  }

  /** Since Spring 7. */
  @Test
  @EnabledIf("io.fibry.spring.Boot#pausesContexts")
  void aPausedContextGoesOnWithItsActors() throws Exception {
    try (var context = application().run()) {
      ConfigurableApplicationContext.class.getMethod("pause").invoke(context);
      ConfigurableApplicationContext.class.getMethod("restart").invoke(context);

      assertEquals(9, square(context).ask(3));
    }
  }

  /** Each request is answered or refused while the context closes, and the accounts add up. */
  @Test
  void closeUnderLoadLeavesNoRequestWaiting() throws Exception {
    var context = application().run();
    var scope = context.getBean(ActorScope.class);
    var square = square(context);
    var running = new AtomicBoolean(true);
    var warm = new Gate();
    var senders = new ArrayList<CompletableFuture<long[]>>();
    for (int i = 0; i < 8; i++) senders.add(onThread(() -> ask(square, running, warm)));
    warm.awaitEntered();

    context.close();

    var report = scope.report();
    running.set(false);
    long answered = 0;
    for (var sender : senders) answered += sender.join()[0];
    assertEquals(report.handled(), answered);
    assertEquals(0, report.queued());
    assertEquals(List.of(), report.undelivered());
    assertEquals(report.sent(),
        report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum());
  }

  /** Returns how many requests were answered, and how many refused. */
  private static long[] ask(ActorWithReturn<Integer, Integer> square, AtomicBoolean running, Gate warm) {
    var counts = new long[2];
    for (int n = 0; running.get(); n++) {
      try {
        assertEquals(n * n, square.sendMessageReturn(n).join());
        counts[0]++;
      } catch (CompletionException refused) {
        assertTrue(refused.getCause() instanceof ActorStoppedException, refused::toString);
        counts[1]++;
      }
      if (n == 1000) warm.enter();
    }
    return counts;
  }

  /**
   * Runs on a platform thread, because on one processor busy virtual threads would starve the
   * threads that the closing starts.
   */
  private static <T> CompletableFuture<T> onThread(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Thread.ofPlatform().daemon().start(() -> {
      try {
        result.complete(code.call());
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    });
    return result;
  }
}
