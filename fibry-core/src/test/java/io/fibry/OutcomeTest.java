package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that the exception of a request tells whether the request was or will be handled. */
class OutcomeTest {
  private static final Duration SHORT = Duration.ofMillis(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("outcomes", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private ActorWithReturn<Object, Object> worker(Mailbox<Object> mailbox) {
    return scope.named("worker").mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object message) -> {
          Gate.passOrThrow(message);
          return message;
        });
  }

  private static RequestOutcome outcome(Future<?> answer, Object request) {
    return RequestException.outcomeOf(Patience.failure(answer), request);
  }

  @Test
  @Promise("4.19")
  void refusedRequestHasOutcomeNotDone() {
    var worker = worker(Mailbox.bounded(1, Overflow.REJECT));
    var gate = Gate.occupy(worker);
    var queuedAnswer = worker.sendMessageReturn("waits");

    assertEquals(RequestOutcome.NOT_DONE, assertThrows(MailboxFullException.class, () -> worker.ask("full")).outcome());
    worker.sendPoisonPill();
    gate.open();
    Patience.value(queuedAnswer);
    Patience.awaitEnd(worker::waitForExit);
    assertEquals(RequestOutcome.NOT_DONE,
        assertThrows(ActorStoppedException.class, () -> worker.ask("ended")).outcome());
  }

  @Test
  @Promise("4.19")
  void timedOutRequestHasOutcomeNotDoneOnlyIfHandlerNeverBegan() {
    var worker = worker(Mailbox.unbounded());
    var askers = new ArrayList<Thread>();
    var failures = new ConcurrentHashMap<Object, Throwable>();
    for (var request : List.of(new Gate(), "behind")) {
      askers.add(Patience.startFiber(() -> failures.put(request,
          assertThrows(AskTimeoutException.class, () -> worker.ask(request, SHORT)))));
      if (request instanceof Gate gate) Patience.await(gate.entered);
      Patience.awaitParked(askers.getLast());
    }

    Patience.eventually(() -> {
      clock.advance(SHORT);
      return askers.stream().noneMatch(Thread::isAlive);
    });

    failures.forEach(
        (request, failure) -> assertEquals(request instanceof Gate ? RequestOutcome.UNKNOWN : RequestOutcome.NOT_DONE,
            RequestException.outcomeOf(failure, request), failure.getMessage()));
    assertEquals(2, failures.size());
  }

  @Test
  @Promise("4.19")
  void outerRequestHasUnknownOutcomeWhenNestedRequestFails() {
    var fullWorker = worker(Mailbox.bounded(1, Overflow.REJECT));
    Gate.occupy(fullWorker);
    fullWorker.sendMessage("waits");
    var asker = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String message) -> fullWorker.ask("inner"));

    var failure = assertThrows(MailboxFullException.class, () -> asker.ask("outer"));

    assertEquals("inner", failure.request());
    assertEquals(RequestOutcome.UNKNOWN, RequestException.outcomeOf(failure, "outer"));
    assertEquals(RequestOutcome.NOT_DONE, RequestException.outcomeOf(new CompletionException(failure), "inner"));
    assertEquals(RequestOutcome.UNKNOWN, RequestException.outcomeOf(new CancellationException(), "inner"));
  }

  /**
   * The handling of requests races with kills of the actor, limits, and drops from the mailbox.
   * Clients repeat each request whose outcome is NOT_DONE.
   */
  @Test
  @Promise("4.19")
  void repeatedNotDoneRequestIsHandledExactlyOnce() throws Exception {
    long seed = StressRuns.seed();
    System.out.println("outcomes of requests: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var handledCounts = new ConcurrentHashMap<Object, AtomicInteger>();
    var outcomes = new ConcurrentHashMap<RequestOutcome, AtomicInteger>();
    try (var scopeOfClients = ActorSystem.openScope("outcomes-of-many");
        var replacedActor = ReplacedActor.of(scopeOfClients, handledCounts);
        var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      int requestsPerClient = Soak.ON ? 20_000 : 400;
      var clients = new ArrayList<Future<?>>();
      for (int c = 0; c < 8; c++) {
        int client = c;
        var clientRandom = new Random(random.nextLong());
        clients.add(executor.submit(() -> {
          for (int i = 0; i < requestsPerClient; i++) {
            var request = client + ":" + i;
            while (replacedActor.outcomeOfAsk(request, clientRandom, outcomes) == RequestOutcome.NOT_DONE)
              LockSupport.parkNanos(1_000);
          }
        }));
      }
      while (clients.stream().anyMatch(c -> !c.isDone())) {
        LockSupport.parkNanos(random.nextInt(200_000));
        replacedActor.replace(random.nextBoolean());
      }
      for (var client : clients) Patience.value(client);
    }
    handledCounts.forEach((request, times) -> assertEquals(1, times.get(), request + ", seed " + seed));
    System.out.println(outcomes);
    assertNotNull(outcomes.get(RequestOutcome.NOT_DONE), "seed " + seed);
    assertTrue(outcomes.getOrDefault(RequestOutcome.UNKNOWN, new AtomicInteger()).get() > 0, "seed " + seed);
  }

  /** An actor that the test ends and replaces again and again. */
  private static final class ReplacedActor implements AutoCloseable {
    private final ActorScope scope;
    private final ConcurrentHashMap<Object, AtomicInteger> handledCounts;
    private volatile ActorWithReturn<String, String> actor;

    private ReplacedActor(ActorScope scope, ConcurrentHashMap<Object, AtomicInteger> handledCounts) {
      this.scope = scope;
      this.handledCounts = handledCounts;
      actor = newActor(Overflow.REJECT);
    }

    static ReplacedActor of(ActorScope scope, ConcurrentHashMap<Object, AtomicInteger> handledCounts) {
      return new ReplacedActor(scope, handledCounts);
    }

    private ActorWithReturn<String, String> newActor(Overflow overflow) {
      return scope.anonymous().mailbox(Mailbox.bounded(3, overflow)).onFailure(FailurePolicy.resume().withoutLog())
          .newActorWithReturn((String request) -> {
            handledCounts.computeIfAbsent(request, key -> new AtomicInteger()).incrementAndGet();
            LockSupport.parkNanos(request.hashCode() & 0x3fff);
            return request;
          });
    }

    void replace(boolean kill) {
      var previous = actor;
      actor = newActor(kill ? Overflow.DROP_OLDEST : Overflow.BLOCK);
      if (kill) previous.kill();
      else previous.sendPoisonPill();
    }

    RequestOutcome outcomeOfAsk(String request, Random dice,
        ConcurrentHashMap<RequestOutcome, AtomicInteger> outcomes) {
      var limit = Duration.ofNanos(1 + dice.nextInt(200_000));
      try {
        if (dice.nextBoolean()) actor.ask(request, limit);
        else actor.sendMessageReturn(request, limit).join();
        return null;
      } catch (RequestException | CompletionException failure) {
        var outcome = RequestException.outcomeOf(failure, request);
        outcomes.computeIfAbsent(outcome, key -> new AtomicInteger()).incrementAndGet();
        return outcome;
      }
    }

    @Override
    public void close() {
      actor.kill();
    }
  }
}
