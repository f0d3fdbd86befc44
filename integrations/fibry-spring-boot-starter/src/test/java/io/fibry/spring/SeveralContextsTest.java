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
 * Tests several contexts in one JVM: in sequence, in parallel, as parent and child, and closed
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
  void closedContextEndsNoActorOfParallelContext() {
    try (var first = application().run()) {
      var second = application().run();
      assertNotSame(first.getBean(ActorScope.class), second.getBean(ActorScope.class));
      var stoppedActor = square(second);
      second.close();

      assertThrows(ActorStoppedException.class, () -> stoppedActor.ask(3));
      assertEquals(9, square(first).ask(3));
    }
  }

  @Test
  void childContextEndsOnlyItsOwnActors() {
    try (var parent = application().run()) {
      var child = application().parent(parent).run();
      assertNotSame(parent.getBean(ActorScope.class), child.getBean(ActorScope.class));
      assertNotSame(square(parent), square(child));
      var stoppedActor = square(child);
      child.close();

      assertThrows(ActorStoppedException.class, () -> stoppedActor.ask(3));
      assertEquals(9, square(parent).ask(3));
    }
  }

  /** Opens contexts in sequence, as devtools and test runs do. */
  @Test
  void consecutiveContextsLeaveNoScopesBehind() {
    long scopesBefore = countScopes();

    for (int i = 0; i < 3; i++) {
      try (var context = application().run("--fibry.name=passing")) {
        assertEquals(9, square(context).ask(3));
      }
    }

    // an ended actor may stay in the dump for a moment
    Patience.eventually(() -> !ActorSystem.root().dump().contains("scope 'passing'") && countScopes() <= scopesBefore);
  }

  /** Returns the number of scopes of this JVM; scopes of other tests may end at the same time. */
  private static long countScopes() {
    return ActorSystem.root().dump().lines().filter(line -> line.strip().startsWith("scope '")).count();
  }

  /** Runs only with Spring 7 or newer, because older versions cannot pause contexts. */
  @Test
  @EnabledIf("io.fibry.spring.Boot#pausesContexts")
  void restartedContextKeepsItsActors() throws Exception {
    try (var context = application().run()) {
      ConfigurableApplicationContext.class.getMethod("pause").invoke(context);
      ConfigurableApplicationContext.class.getMethod("restart").invoke(context);

      assertEquals(9, square(context).ask(3));
    }
  }

  /** Each request is answered or refused while the context closes, and the statistics add up. */
  @Test
  void closeUnderLoadLeavesNoRequestWaiting() throws Exception {
    var context = application().run();
    var scope = context.getBean(ActorScope.class);
    var square = square(context);
    var running = new AtomicBoolean(true);
    var loadGate = new Gate();
    var senders = new ArrayList<CompletableFuture<long[]>>();
    for (int i = 0; i < 8; i++) senders.add(onThread(() -> ask(square, running, loadGate)));
    ActorScope.Report report;
    try {
      loadGate.awaitEntered();

      context.close();

      report = scope.report();
    } finally { // otherwise the senders would disturb the tests that follow
      running.set(false);
      context.close();
    }
    long answeredRequests = 0;
    for (var sender : senders) answeredRequests += Patience.value(sender)[0];
    assertEquals(report.handled(), answeredRequests);
    assertEquals(0, report.queued());
    assertEquals(List.of(), report.deadLetters());
    assertEquals(report.sent(),
        report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum());
  }

  /** Sends requests while running is true; returns how many were answered, and how many refused. */
  private static long[] ask(ActorWithReturn<Integer, Integer> square, AtomicBoolean running, Gate loadGate) {
    var counts = new long[2];
    for (int n = 0; running.get(); n++) {
      try {
        assertEquals(n * n, square.sendMessageReturn(n).join());
        counts[0]++;
      } catch (CompletionException refusal) {
        assertTrue(refusal.getCause() instanceof ActorStoppedException, refusal::toString);
        counts[1]++;
      }
      if (n == 1000) loadGate.enter();
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
