package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ContextPropagator;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests requests by name in the process of a node without other nodes, which do not pass the
 * network. Askers must see no difference.
 */
class DirectRouteTest {
  sealed interface Entry {}
  record Report() implements Entry, Request<Report, Lines> {}
  record Pending() implements Entry, Request<Pending, Integer> {}
  record Give(String line) implements Entry, Request<Give, Done> {}
  record Hold() implements Entry, Request<Hold, Done> {}
  record Ignore() implements Entry, Request<Ignore, Done> {}
  record Never() implements Entry, Request<Never, Done> {}
  record Fail(String text) implements Entry, Request<Fail, Done> {}
  record FailChecked() implements Entry, Request<FailChecked, Done> {}
  record Cancel() implements Entry, Request<Cancel, Done> {}
  record AskSelf() implements Entry, Request<AskSelf, Done> {}
  record Large(int size) implements Entry, Request<Large, Lines> {}
  record Padded(String text) implements Entry, Request<Padded, Done> {}
  record Buggy() implements Entry, Request<Buggy, BuggyAnswer> {}
  record End() implements Entry, Request<End, Done> {}

  /** A request of which each process has one object. */
  enum Single implements Entry, Request<Single, SecretAnswer> {
    ONLY
  }

  /** An answer that only the actor can create. */
  record SecretAnswer(String text) {
    SecretAnswer {
      if (!text.equals("secret")) throw new IllegalArgumentException("a bug of the constructor");
    }

    @Override
    public String text() {
      return "known";
    }
  }

  /** A request that only its sender can create. */
  record Unreadable(boolean isSent) implements Entry, Request<Unreadable, Done> {
    private static final ThreadLocal<Boolean> MAY_CREATE = ThreadLocal.withInitial(() -> false);

    Unreadable {
      if (!MAY_CREATE.get()) throw new IllegalArgumentException("a bug of the constructor");
    }

    static Unreadable create() {
      MAY_CREATE.set(true);
      try {
        return new Unreadable(true);
      } finally {
        MAY_CREATE.remove();
      }
    }
  }

  record Lines(List<String> lines) {}

  /** The receiver asks the first actor of the path, and sends it the rest of the path. */
  record Walk(List<String> path) implements Request<Walk, String> {
    Walk tail() {
      return new Walk(path.subList(1, path.size()));
    }
  }

  record BuggyAnswer(String text) {
    @Override
    public String text() {
      throw new AssertionError("a bug of the accessor");
    }
  }

  private final ActorScope scope = ActorSystem.openScope("direct-route-test");
  private final CountDownLatch mayContinue = new CountDownLatch(1);
  private final CountDownLatch isHolding = new CountDownLatch(1);

  @AfterEach
  void close() {
    mayContinue.countDown();
    scope.close();
  }

  private Actor<Entry> newLog(Cluster node, Mailbox<Object> mailbox) {
    return newLog(node, mailbox, scope);
  }

  private Actor<Entry> newLog(Cluster node, Mailbox<Object> mailbox, ActorScope actorScope) {
    var lines = new ArrayList<String>(); // changed by the actor after it has replied with it
    return actorScope.anonymous().mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Entry entry, ActorContext<Entry> context) -> {
          switch (entry) {
            case Give give -> {
              lines.add(give.line);
              context.reply(give, Done.DONE);
            }
            case Report report -> {
              context.reply(report, new Lines(lines));
              lines.clear();
            }
            case Pending request -> context.reply(request, node.health().pendingRequests());
            case Hold hold -> {
              isHolding.countDown();
              Patience.await(mayContinue);
              context.reply(hold, Done.DONE);
            }
            case Ignore ignore -> {}
            case Never request -> context.replyWhen(request, new CompletableFuture<>());
            case Fail fail -> throw new IllegalStateException(fail.text);
            case FailChecked fail -> throw new InterruptedException("checked");
            case Cancel cancel -> throw new CancellationException("cancelled by the handler");
            case AskSelf request -> node.actor("log", Entry.class).ask(request);
            case Large large -> context.reply(large, new Lines(List.of("x".repeat(large.size))));
            case Padded padded -> context.reply(padded, Done.DONE);
            case Buggy buggy -> context.reply(buggy, new BuggyAnswer("text"));
            case Single single -> context.reply(single, new SecretAnswer("secret"));
            case Unreadable unreadable -> context.reply(unreadable, Done.DONE);
            case End end -> {
              context.replyWhen(end, new CompletableFuture<>());
              context.self().kill();
            }
          }
        });
  }

  private Actor<Entry> expose(Cluster node, Mailbox<Object> mailbox) {
    node.expose("log", Entry.class, newLog(node, mailbox));
    return node.actor("log", Entry.class);
  }

  // ---- the route

  @Test
  void requestIsNoRequestOfNetwork() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.unbounded());

      assertEquals(0, log.ask(new Pending()));
      assertEquals(0, log.ask(new Pending(), Patience.LONG));
      assertEquals(1, Patience.value(log.sendMessageReturn(new Pending())));
    }
  }

  /** Senders may wait for capacity, or call a listener of dead letters. */
  @ParameterizedTest
  @EnumSource(value = Overflow.class, names = {"BLOCK", "DROP_OLDEST"})
  void requestTakesNetworkIfSendMayWaitOrCallListener(Overflow overflow) {
    try (var node = Cluster.local("shop")) {
      assertEquals(1, expose(node, Mailbox.bounded(8, overflow)).ask(new Pending()));
    }
  }

  @Test
  void requestTakesNetworkIfActorHasContextPropagators() {
    try (var contextScope =
        ActorSystem.openScope("with context", options -> options.withContextPropagator(ContextPropagator.mdc()));
        var node = Cluster.local("shop")) {
      node.expose("log", Entry.class, newLog(node, Mailbox.unbounded(), contextScope));

      assertEquals(1, node.actor("log", Entry.class).ask(new Pending()));
    }
  }

  @Test
  void requestToOtherNodeOfNetworkTakesNetwork() {
    var network = MemoryNetwork.create();
    try (var node = Cluster.join("shop", network, options -> options.withNode("a"))) {
      assertEquals(1, expose(node, Mailbox.unbounded()).ask(new Pending()));
    }
  }

  @Test
  void askerGetsCopyOfAnswerAsItWasAtReply() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.unbounded());
      for (int i = 0; i < 1_000; i++) {
        log.ask(new Give("first"));
        log.ask(new Give("second"));

        assertEquals(List.of("first", "second"), log.ask(new Report()).lines);
      }
    }
  }

  @Test
  void withdrawnOfferGetsNoRequests() {
    try (var node = Cluster.local("shop")) {
      var actor = newLog(node, Mailbox.unbounded());
      var offer = node.expose("log", Entry.class, actor);
      var log = node.actor("log", Entry.class);
      assertEquals(0, log.ask(new Pending()));

      offer.close();

      assertThrows(UnavailableException.class, () -> log.ask(new Pending()));
      node.expose("log", Entry.class, actor);
      assertEquals(0, log.ask(new Pending()));
    }
  }

  /** The clock of the node is code of a user, and may end the offer while an asker reads it. */
  @Test
  void clockClosesOfferWhileItMeasuresRequest() {
    var asker = new AtomicReference<Thread>();
    var offer = new CompletableFuture<Exitable>();
    var clock = Intercepted.of(Scheduler.class, Scheduler.system(), (method, arguments, call) -> {
      if (method.getName().equals("nanoTime") && asker.compareAndSet(Thread.currentThread(), null))
        offer.join().close();
      return call.pass();
    });
    try (ActorScope nodeScope = ActorSystem.openScope("node", options -> options.withScheduler(clock));
        var node = Cluster.join("shop", MemoryNetwork.ofOneNode(), options -> options.withScope(nodeScope))) {
      offer.complete(node.expose("log", Entry.class, newLog(node, Mailbox.unbounded())));
      var log = node.actor("log", Entry.class);

      var answer = Patience.callOnFiber(() -> {
        asker.set(Thread.currentThread());
        return log.ask(new Pending());
      });

      assertInstanceOf(UnavailableException.class, Patience.failure(answer));
    }
  }

  @Test
  void requestOfInterruptedAskerIsNotHandled() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.unbounded());
      Patience.startFiber(() -> log.ask(new Hold()));
      Patience.await(isHolding);
      var outcome = new CompletableFuture<CancellationException>();
      var asker = Patience.startFiber(
          () -> assertThrows(CancellationException.class, () -> log.ask(new Give("late"))), outcome);
      Patience.awaitParked(asker);

      asker.interrupt();

      Patience.value(outcome);
      mayContinue.countDown();
      assertEquals(List.of(), log.ask(new Report()).lines);
    }
  }

  // ---- cycles

  private void exposeWalker(Cluster node, String name, Mailbox<Object> mailbox) {
    node.expose(name, Walk.class, scope.anonymous().mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Walk walk, ActorContext<Walk> context) -> context.reply(walk, walk.path.isEmpty() ? "there"
            : node.actor(walk.path.getFirst(), Walk.class).ask(walk.tail()))));
  }

  /** The actors whose mailbox may block get their requests from the network. */
  @ParameterizedTest
  @ValueSource(strings = {"", "first", "second", "third", "first second", "second third", "first third"})
  void cycleIsDetectedAlthoughSomeRequestsTakeNetwork(String blockingActors) {
    try (var node = Cluster.local("shop")) {
      for (var name : List.of("first", "second", "third")) exposeWalker(node, name,
          blockingActors.contains(name) ? Mailbox.bounded(8, Overflow.BLOCK) : Mailbox.unbounded());
      var first = node.actor("first", Walk.class);

      assertEquals("there", first.ask(new Walk(List.of("second", "third"))));
      var failure =
          Patience.failure(Patience.callOnFiber(() -> first.ask(new Walk(List.of("second", "third", "first")))));
      assertTrue(failure.getMessage().contains("this wait could never end"), failure.getMessage());
    }
  }

  // ---- failures

  private enum Failing {
    NO_REPLY(log -> log.ask(new Ignore())),
    EXCEPTION(log -> log.ask(new Fail("no\nmoney"))),
    CHECKED_EXCEPTION(log -> log.ask(new FailChecked())),
    CANCELLATION(log -> log.ask(new Cancel())),
    LARGE_REQUEST(log -> log.ask(new Padded("x".repeat(1 << 20)))),
    ERROR_OF_ENCODING(log -> log.ask(new Buggy())),
    ERROR_OF_DECODING(log -> log.ask(Unreadable.create())),
    NO_TIME(log -> log.ask(new Never(), Duration.ZERO)),
    END(log -> log.ask(new End()));

    private final Consumer<Actor<Entry>> request;

    Failing(Consumer<Actor<Entry>> request) {
      this.request = request;
    }
  }

  private static String describe(Throwable failure) {
    String outcome = failure instanceof RequestException exception
        ? exception.actor() + ", " + exception.outcome() + ", " + exception.request() : "";
    return (failure + "; " + outcome).replaceAll("anonymous@\\w+", "anonymous");
  }

  @ParameterizedTest
  @EnumSource
  void askerGetsSameFailureAsOverNetwork(Failing failing) {
    try (var node = Cluster.local("shop");
        var networkNode = Cluster.join("shop", MemoryNetwork.create(), options -> options.withNode("a"))) {
      var log = expose(node, Mailbox.unbounded());
      var networkLog = expose(networkNode, Mailbox.unbounded());

      var failure = assertThrows(RuntimeException.class, () -> failing.request.accept(log));

      assertEquals(describe(assertThrows(RuntimeException.class, () -> failing.request.accept(networkLog))),
          describe(failure));
    }
  }

  @Test
  void unreadableAnswerToEnumHasFailureOfDecodingAsCause() {
    try (var node = Cluster.local("shop");
        var networkNode = Cluster.join("shop", MemoryNetwork.create(), options -> options.withNode("a"))) {
      var log = expose(node, Mailbox.unbounded());
      var networkLog = expose(networkNode, Mailbox.unbounded());

      var failure = assertThrows(UnavailableException.class, () -> log.ask(Single.ONLY));

      var expected = assertThrows(UnavailableException.class, () -> networkLog.ask(Single.ONLY));
      assertEquals(describe(expected), describe(failure));
      assertEquals(expected.getCause().toString(), failure.getCause().toString());
    }
  }

  @Test
  void fullMailboxFailsRequest() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.bounded(1, Overflow.REJECT));
      Patience.startFiber(() -> log.ask(new Hold()));
      Patience.await(isHolding);
      Patience.awaitParked(Patience.startFiber(() -> log.ask(new Pending())));
      var request = new Pending();

      var failure = assertThrows(MailboxFullException.class, () -> log.ask(request));

      assertEquals("log, 1, NOT_DONE", failure.actor() + ", " + failure.capacity() + ", " + failure.outcome());
      assertSame(request, failure.request());
    }
  }

  @Test
  void timeoutNamesAddressAndRequest() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.unbounded());
      var request = new Never();
      var limit = Duration.ofMillis(1);

      var failure = assertThrows(AskTimeoutException.class, () -> log.ask(request, limit));

      assertEquals("log", failure.actor());
      assertSame(request, failure.request());
      assertEquals(limit, failure.limit());
    }
  }

  @Test
  void largeAnswerFailsRequest() {
    try (var node = Cluster.local("shop")) {
      var log = expose(node, Mailbox.unbounded());

      var failure = assertThrows(RemoteFailureException.class, () -> log.ask(new Large(1 << 20)));

      assertEquals(IllegalArgumentException.class.getName(), failure.type());
      assertEquals("the answer to a " + Large.class.getName() + " has 1048596 bytes; at most 1048576 can be sent",
          failure.getMessage());
    }
  }

  @Test
  void handlerThatAsksItselfGetsCycleException() {
    try (var node = Cluster.local("shop")) {
      var failure = assertThrows(AskCycleException.class,
          () -> expose(node, Mailbox.unbounded()).ask(new AskSelf()));

      assertEquals(List.of("log", "log"), failure.cycle());
    }
  }
}
