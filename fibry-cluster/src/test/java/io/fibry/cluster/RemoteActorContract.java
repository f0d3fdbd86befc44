package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Done;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Actors of one node, as another one sees them. */
abstract class RemoteActorContract {
  sealed interface Till {}
  record Pay(int cents) implements Till {}
  /** Gives money, and waits for the answer. */
  record Give(int cents) implements Till, Request<Give, Done> {}
  record Sum() implements Till, Request<Sum, Long> {}
  record Fail(String text) implements Till, Request<Fail, Done> {}
  record Promise() implements Till, Request<Promise, Done> {}
  record Ignore() implements Till, Request<Ignore, Done> {}
  record Left() implements Till, Request<Left, Long> {}
  record Wait() implements Till {}

  private static final Duration LIMIT = Duration.ofSeconds(30); // by a clock that is moved

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("far-test");
  private final Cluster a;
  private final Cluster b;
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch waits = new CountDownLatch(1);

  RemoteActorContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node));
  }

  @AfterEach
  void close() {
    gate.countDown();
    b.close();
    a.close();
    scope.close();
  }

  private Actor<Till> till() {
    return till(Mailbox.unbounded());
  }

  private Actor<Till> till(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).onFailure(FailurePolicy.resume()).initialState(LongAdder::new)
        .newActor(this::handle);
  }

  private void handle(LongAdder cents, Till message, ActorContext<Till> context) throws InterruptedException {
    switch (message) {
      case Pay pay -> cents.add(pay.cents());
      case Give give -> {
        cents.add(give.cents());
        context.reply(give, Done.DONE);
      }
      case Sum sum -> context.reply(sum, cents.sum());
      case Fail fail -> throw new IllegalStateException(fail.text());
      case Promise promise -> context.replyWhen(promise, new CompletableFuture<>());
      case Ignore ignore -> {}
      case Left left -> context.reply(left, context.remainingTime().map(Duration::toMillis).orElse(-1L));
      case Wait wait -> {
        waits.countDown();
        gate.await();
      }
    }
  }

  private Actor<Till> far() {
    return b.actor("till", Till.class);
  }

  // ---- what arrives

  @Test
  void aRequestIsAnsweredByTheNodeThatOffersTheName() {
    a.expose("till", Till.class, till());

    assertTrue(far().sendMessage(new Pay(5)));
    assertTrue(far().sendMessages(List.of(new Pay(3), new Pay(2))));

    assertEquals(10, far().ask(new Sum()));
    assertEquals(10, far().ask(new Sum(), Patience.LONG));
    assertEquals(10, far().sendMessageReturn(new Sum()).join());
    assertEquals(10, a.actor("till", Till.class).ask(new Sum()));
  }

  @Test
  void messagesAndRequestsOfOneSenderKeepTheirOrder() {
    a.expose("till", Till.class, till());
    var till = far();

    for (long i = 1; i <= 1_000; i++) {
      till.sendMessage(new Pay(1));
      if (i % 100 == 0) assertEquals(i, till.ask(new Sum()));
    }
  }

  @Test
  void manyThreadsAskAtOnce() {
    a.expose("till", Till.class, till());
    var till = far();

    var sums = IntStream.range(0, 1_000).mapToObj(i -> till.sendMessageReturn(new Sum())).toList();

    for (var sum : sums) assertEquals(0, sum.join());
  }

  @Test
  void nodesExposingSameNameShareWork() {
    var one = till();
    var other = till();
    a.expose("till", Till.class, one);
    b.expose("till", Till.class, other);

    for (int i = 0; i < 100; i++) far().sendMessage(new Pay(1));

    Patience.eventually(() -> one.ask(new Sum()) + other.ask(new Sum()) == 100);
    assertTrue(one.ask(new Sum()) > 0 && other.ask(new Sum()) > 0, () -> one.ask(new Sum()) + " of 100");
  }

  @Test
  void noRequestIsLostWhenOneOfSeveralExposuresCloses() throws Exception {
    var till = till();
    b.expose("till", Till.class, till);
    var far = far();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var end = new AtomicBoolean();
      Callable<Integer> pays = () -> {
        int paid = 0;
        for (; !end.get(); paid++) far.ask(new Give(1));
        return paid;
      };
      var all = List.of(askers.submit(pays), askers.submit(pays), askers.submit(pays), askers.submit(pays));
      for (int i = 0; i < 50; i++) a.expose("till", Till.class, till).close();
      end.set(true);

      long paid = 0;
      for (var one : all) paid += one.get();
      assertEquals(paid, till.ask(new Sum()));
    }
  }

  @Test
  void localClusterNeedsNoServer() {
    try (var alone = Cluster.local("bank")) {
      alone.expose("till", Till.class, till());
      alone.actor("till", Till.class).sendMessage(new Pay(7));

      assertEquals(7, alone.actor("till", Till.class).ask(new Sum()));
      assertEquals(List.of(alone.self()), alone.members());
    }
  }

  // ---- how requests end

  @Test
  void remoteHandlerFailureReachesAsker() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(RemoteFailureException.class, () -> far().ask(new Fail("no\nmoney")));

    assertEquals("no\\nmoney", failure.getMessage());
    assertEquals(IllegalStateException.class.getName(), failure.type());
  }

  @Test
  void requestToUnexposedNameIsUnreachable() {
    var failure = assertThrows(UnreachableException.class, () -> far().ask(new Sum()));

    assertEquals(Outcome.NOT_DONE, failure.outcome());
    assertEquals("Sum[] did not reach actor 'till': no node offers it", failure.getMessage());
    assertEquals("till", failure.actor());
  }

  @Test
  void theLimitGoesWithTheRequest() {
    a.expose("till", Till.class, till());

    long left = far().ask(new Left(), Patience.LONG);
    long byDefault = far().sendMessageReturn(new Left()).join();

    assertTrue(left > 0 && left <= Patience.LONG.toMillis() - 100, left + " ms are left");
    assertTrue(byDefault > 0 && byDefault <= 29_900, byDefault + " ms are left");
  }

  /** Its answer that it is late may come too late itself. */
  @Test
  void timeoutDescribesStateOfRemoteRequest() {
    a.expose("till", Till.class, till());
    var clock = new ManualScheduler();
    try (ActorScope timed = ActorSystem.openScope("far-timed", options -> options.withScheduler(clock));
        var c = Cluster.join(app, network, options -> options.withNode("c").withScope(timed))) {
      var answer = c.actor("till", Till.class).sendMessageReturn(new Promise(), LIMIT);
      Patience.eventually(() -> a.health().pendingRequests() == 1);
      clock.advance(LIMIT);

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertTrue(
          failure.getMessage().contains("promised") || failure.getMessage().contains("may be handled all the same"),
          failure.getMessage());
    }
    assertThrows(AskTimeoutException.class, () -> far().ask(new Promise(), Duration.ofMillis(300)));
  }

  @Test
  void remoteHandlerWithoutReplyFailsRequest() {
    a.expose("till", Till.class, till());

    assertThrows(NoReplyException.class, () -> far().ask(new Ignore()));
  }

  @Test
  void fullRemoteMailboxFailsRequest() throws InterruptedException {
    a.expose("till", Till.class, till(Mailbox.bounded(1, Overflow.REJECT)));
    far().sendMessage(new Wait());
    Patience.await(waits);
    far().sendMessage(new Pay(1));

    var failure = assertThrows(MailboxFullException.class, () -> far().ask(new Sum()));

    assertEquals(1, failure.capacity());
  }

  @Test
  void requestFailsWhenRemoteActorStops() throws InterruptedException {
    var till = till();
    a.expose("till", Till.class, till);
    far().sendMessage(new Wait());
    var sum = far().sendMessageReturn(new Sum());
    Patience.await(waits);
    Patience.eventually(() -> scope.report().queued() == 1);

    till.askExit();
    gate.countDown();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(sum));
  }

  @Test
  void anOfferEndsWithItsActor() {
    var till = till();
    var offer = a.expose("till", Till.class, till);

    till.close();

    Patience.ended(offer::waitForExit);
    assertThrows(UnreachableException.class, () -> far().ask(new Sum()));
  }

  @Test
  void anOfferCanBeTakenBackAndMadeAgain() {
    var till = till();
    var offer = a.expose("till", Till.class, till);
    assertEquals(0, far().ask(new Sum()));

    offer.close();

    assertThrows(UnreachableException.class, () -> far().ask(new Sum()));
    a.expose("till", Till.class, till);
    assertEquals(0, far().ask(new Sum()));
  }

  @Test
  void livingActorRetainsNoClosedExposures() {
    var till = till();
    var offers = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < 10; i++) offers.add(takenBack(till));

    Patience.eventually(() -> {
      System.gc();
      return offers.stream().limit(9).allMatch(offer -> offer.refersTo(null)); // the node has the last one
    });
  }

  private WeakReference<Object> takenBack(Actor<Till> till) {
    var offer = a.expose("till", Till.class, till);
    assertEquals(0, far().ask(new Sum()));
    offer.close();
    return new WeakReference<>(offer);
  }

  @Test
  void closedNodeNeitherAnswersNorAsks() {
    a.expose("till", Till.class, till());
    var of = a.actor("till", Till.class);

    a.close();

    assertThrows(UnreachableException.class, () -> far().ask(new Sum()));
    assertThrows(ActorStoppedException.class, () -> of.ask(new Sum()));
    assertFalse(of.sendMessage(new Pay(1)));
  }

  // ---- bad input

  record Odd() implements Request<Odd, Thread> {}

  @Test
  void unencodableMessageTypeIsRefusedAtOnce() {
    var failure = assertThrows(IllegalArgumentException.class, () -> a.actor("odd", Odd.class));

    assertTrue(failure.getMessage().startsWith("messages of " + Odd.class.getName()
        + " cannot be sent to another node: answers to "), failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.actor("odd", Object.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Till", "a.b", "a b", "*", "ä", "1a", "a\nb"})
  void invalidActorNameIsRefused(String name) {
    var failure = assertThrows(IllegalArgumentException.class, () -> a.actor(name, Till.class));

    assertTrue(failure.getMessage().contains("cannot name an actor: take 1 to 64"), failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.expose(name, Till.class, till()));
    assertThrows(IllegalArgumentException.class, () -> Cluster.local(name));
  }

  @Test
  void nodeExposesNameOnlyOnce() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(IllegalStateException.class, () -> a.expose("till", Till.class, till()));

    assertEquals("node 'a' offers 'till' already; close that offer", failure.getMessage());
  }

  @Test
  void remoteActorRefusesCodeAndLifecycleCalls() {
    var far = far();
    for (Runnable call : List.<Runnable>of(() -> far.execute(() -> {}), far::kill, far::close, far::askExit,
        far::sendPoisonPill, () -> far.closeOnExit(() -> {})))
      assertTrue(assertThrows(UnsupportedOperationException.class, call::run).getMessage()
          .startsWith("actor 'till' may be on another node: "));
  }

  @Test
  void longFailureMessageIsTruncated() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(RemoteFailureException.class, () -> far().ask(new Fail("x".repeat(100_000))));

    assertEquals("x".repeat(1_000) + " ..", failure.getMessage());
  }

  @Test
  void undecodableRequestIsRefused() {
    a.expose("till", Till.class, till());
    try (var foreign = network.connect(app, "foreign")) {
      var answer =
          Patience.value(foreign.request(WireMessage.to("fb." + app + ".n.till", Map.of(), new byte[] {1, 2, 3}),
              Patience.LONG).toCompletableFuture());

      assertEquals("FAILED", answer.header("Fb-S").orElseThrow());
    }
    assertEquals(0, far().ask(new Sum()));
  }
}
