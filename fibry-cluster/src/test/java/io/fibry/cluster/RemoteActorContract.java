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
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
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

/** Tests actors that are exposed by one node and used by another node. */
abstract class RemoteActorContract {
  sealed interface Till {}
  record Pay(int cents) implements Till {}
  /** Pays money in, as {@link Pay} does, but has an answer. */
  record Give(int cents) implements Till, Request<Give, Done> {}
  record Sum() implements Till, Request<Sum, Long> {}
  record Fail(String text) implements Till, Request<Fail, Done> {}
  record Promise() implements Till, Request<Promise, Done> {}
  record Ignore() implements Till, Request<Ignore, Done> {}
  record RemainingTime() implements Till, Request<RemainingTime, Long> {}
  record Wait() implements Till {}

  private static final Duration LIMIT = Duration.ofSeconds(30); // measured by a clock that the test moves

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("remote-test");
  private final Cluster a;
  private final Cluster b;
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch handlerWaiting = new CountDownLatch(1);

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
      case RemainingTime request -> context.reply(request, context.remainingTime().map(Duration::toMillis).orElse(-1L));
      case Wait wait -> {
        handlerWaiting.countDown();
        gate.await();
      }
    }
  }

  private Actor<Till> remoteTill() {
    return b.actor("till", Till.class);
  }

  // ---- delivery

  @Test
  void requestIsAnsweredByNodeThatExposesName() {
    a.expose("till", Till.class, till());

    assertTrue(remoteTill().sendMessage(new Pay(5)));
    assertTrue(remoteTill().sendMessages(List.of(new Pay(3), new Pay(2))));

    assertEquals(10, remoteTill().ask(new Sum()));
    assertEquals(10, remoteTill().ask(new Sum(), Patience.LONG));
    assertEquals(10, remoteTill().ask(new Sum(), ChronoUnit.FOREVER.getDuration()));
    assertEquals(10, Patience.value(remoteTill().sendMessageReturn(new Sum())));
    assertEquals(10, a.actor("till", Till.class).ask(new Sum()));
  }

  @Test
  void messagesAndRequestsOfOneSenderKeepTheirOrder() {
    a.expose("till", Till.class, till());
    var till = remoteTill();

    for (long i = 1; i <= 1_000; i++) {
      till.sendMessage(new Pay(1));
      if (i % 100 == 0) assertEquals(i, till.ask(new Sum()));
    }
  }

  @Test
  void thousandConcurrentRequestsAreAllAnswered() {
    a.expose("till", Till.class, till());
    var till = remoteTill();

    var sums = IntStream.range(0, 1_000).mapToObj(i -> till.sendMessageReturn(new Sum())).toList();

    for (var sum : sums) assertEquals(0, Patience.value(sum));
  }

  @Test
  void nodesExposingSameNameShareMessages() {
    var tillOfA = till();
    var tillOfB = till();
    a.expose("till", Till.class, tillOfA);
    b.expose("till", Till.class, tillOfB);

    for (int i = 0; i < 100; i++) remoteTill().sendMessage(new Pay(1));

    Patience.eventually(() -> tillOfA.ask(new Sum()) + tillOfB.ask(new Sum()) == 100);
    assertTrue(tillOfA.ask(new Sum()) > 0 && tillOfB.ask(new Sum()) > 0, () -> tillOfA.ask(new Sum()) + " of 100");
  }

  @Test
  void noRequestIsLostWhenOneOfTwoNodesClosesItsOffer() throws Exception {
    var till = till();
    b.expose("till", Till.class, till);
    var remoteTill = remoteTill();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var exposuresDone = new AtomicBoolean();
      Callable<Integer> payUntilEnd = () -> {
        int paid = 0;
        for (; !exposuresDone.get(); paid++) remoteTill.ask(new Give(1));
        return paid;
      };
      var payers = IntStream.range(0, 4).mapToObj(i -> askers.submit(payUntilEnd)).toList();
      try {
        for (int i = 0; i < 50; i++) a.expose("till", Till.class, till).close();
      } finally { // otherwise the close of the executor waits for the payers
        exposuresDone.set(true);
      }

      long paid = 0;
      for (var payer : payers) paid += Patience.value(payer);
      assertEquals(paid, till.ask(new Sum()));
    }
  }

  @Test
  void localClusterAnswersRequestsWithoutServer() {
    try (var local = Cluster.local("bank")) {
      local.expose("till", Till.class, till());
      local.actor("till", Till.class).sendMessage(new Pay(7));

      assertEquals(7, local.actor("till", Till.class).ask(new Sum()));
      assertEquals(List.of(local.self()), local.members());
    }
  }

  // ---- failures of requests

  @Test
  void remoteHandlerFailureReachesAsker() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(RemoteFailureException.class, () -> remoteTill().ask(new Fail("no\nmoney")));

    assertEquals("no\\nmoney", failure.getMessage());
    assertEquals(IllegalStateException.class.getName(), failure.type());
  }

  @Test
  void requestToUnexposedNameFailsAsNotDone() {
    var failure = assertThrows(UnavailableException.class, () -> remoteTill().ask(new Sum()));

    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    assertEquals("Sum[] did not reach actor 'till': no node offers it", failure.getMessage());
    assertEquals("till", failure.actor());
  }

  @Test
  void remoteHandlerSeesRemainingTimeOfRequest() {
    a.expose("till", Till.class, till());

    long leftOfLimit = remoteTill().ask(new RemainingTime(), Patience.LONG);
    long leftByDefault = Patience.value(remoteTill().sendMessageReturn(new RemainingTime()));

    assertTrue(leftOfLimit > 0 && leftOfLimit <= Patience.LONG.toMillis() - 100, leftOfLimit + " ms are left");
    assertTrue(leftByDefault > 0 && leftByDefault <= 29_900, leftByDefault + " ms are left");
  }

  /** The text says "promised" only if the remote node's report arrives before the limit. */
  @Test
  void timeoutDescribesStateOfRemoteRequest() {
    a.expose("till", Till.class, till());
    var clock = new ManualScheduler();
    try (ActorScope timedScope = ActorSystem.openScope("timed-test", options -> options.withScheduler(clock));
        var c = Cluster.join(app, network, options -> options.withNode("c").withScope(timedScope))) {
      var answer = c.actor("till", Till.class).sendMessageReturn(new Promise(), LIMIT);
      Patience.eventually(() -> a.health().pendingRequests() == 1);
      clock.advance(LIMIT);

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertTrue(
          failure.getMessage().contains("promised") || failure.getMessage().contains("may still be handled"),
          failure.getMessage());
    }
    assertThrows(AskTimeoutException.class, () -> remoteTill().ask(new Promise(), Duration.ofMillis(300)));
  }

  @Test
  void remoteHandlerWithoutReplyFailsRequest() {
    a.expose("till", Till.class, till());

    assertThrows(NoReplyException.class, () -> remoteTill().ask(new Ignore()));
  }

  @Test
  void fullRemoteMailboxFailsRequest() throws InterruptedException {
    a.expose("till", Till.class, till(Mailbox.bounded(1, Overflow.REJECT)));
    remoteTill().sendMessage(new Wait());
    Patience.await(handlerWaiting);
    remoteTill().sendMessage(new Pay(1));

    var failure = assertThrows(MailboxFullException.class, () -> remoteTill().ask(new Sum()));

    assertEquals(1, failure.capacity());
  }

  @Test
  void requestFailsWhenRemoteActorStops() throws InterruptedException {
    var till = till();
    a.expose("till", Till.class, till);
    remoteTill().sendMessage(new Wait());
    var sum = remoteTill().sendMessageReturn(new Sum());
    Patience.await(handlerWaiting);
    Patience.eventually(() -> scope.report().queued() == 1);

    till.askExit();
    gate.countDown();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(sum));
  }

  @Test
  void nodeStopsExposingActorWhenActorEnds() {
    var till = till();
    var offer = a.expose("till", Till.class, till);

    till.close();

    Patience.awaitEnd(offer::waitForExit);
    assertThrows(UnavailableException.class, () -> remoteTill().ask(new Sum()));
  }

  @Test
  void actorCanBeExposedAgainAfterItsOfferIsClosed() {
    var till = till();
    var offer = a.expose("till", Till.class, till);
    assertEquals(0, remoteTill().ask(new Sum()));

    offer.close();

    assertThrows(UnavailableException.class, () -> remoteTill().ask(new Sum()));
    a.expose("till", Till.class, till);
    assertEquals(0, remoteTill().ask(new Sum()));
  }

  @Test
  void closedOffersAreGarbageCollected() {
    var till = till();
    var offers = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < 10; i++) offers.add(exposeAndClose(till));

    Patience.eventually(() -> {
      System.gc();
      return offers.stream().allMatch(offer -> offer.refersTo(null));
    });
  }

  private WeakReference<Object> exposeAndClose(Actor<Till> till) {
    var offer = a.expose("till", Till.class, till);
    assertEquals(0, remoteTill().ask(new Sum()));
    offer.close();
    return new WeakReference<>(offer);
  }

  @Test
  void closedNodeNeitherAnswersNorAsks() {
    a.expose("till", Till.class, till());
    var tillFromA = a.actor("till", Till.class);

    a.close();

    assertThrows(UnavailableException.class, () -> remoteTill().ask(new Sum()));
    assertThrows(ActorStoppedException.class, () -> tillFromA.ask(new Sum()));
    assertFalse(tillFromA.sendMessage(new Pay(1)));
  }

  // ---- bad input

  record RequestForThread() implements Request<RequestForThread, Thread> {}

  @Test
  void actorAddressForUnencodableMessageTypeIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class, () -> a.actor("odd", RequestForThread.class));

    assertTrue(failure.getMessage().startsWith("messages of " + RequestForThread.class.getName()
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
  void nodeRefusesToExposeNameThatItAlreadyExposes() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(IllegalStateException.class, () -> a.expose("till", Till.class, till()));

    assertEquals("node 'a' offers 'till' already; close that offer", failure.getMessage());
  }

  @Test
  void remoteActorRefusesExecuteAndLifecycleCalls() {
    var remoteTill = remoteTill();
    for (Runnable call : List.<Runnable>of(() -> remoteTill.execute(() -> {}), remoteTill::kill,
        remoteTill::close, remoteTill::askExit, remoteTill::sendPoisonPill, () -> remoteTill.closeOnExit(() -> {})))
      assertTrue(assertThrows(UnsupportedOperationException.class, call::run).getMessage()
          .startsWith("actor 'till' may be on another node: "));
  }

  @Test
  void longFailureMessageIsTruncated() {
    a.expose("till", Till.class, till());

    var failure = assertThrows(RemoteFailureException.class, () -> remoteTill().ask(new Fail("x".repeat(100_000))));

    assertEquals("x".repeat(1_000) + " ..", failure.getMessage());
  }

  @Test
  void undecodableRequestIsRefused() {
    a.expose("till", Till.class, till());
    try (var foreign = network.connect(app, "foreign")) {
      var answer =
          Patience.value(foreign.request(WireMessage.oneWay("fb." + app + ".n.till", Map.of(), new byte[] {1, 2, 3}),
              Patience.LONG).toCompletableFuture());

      assertEquals("FAILED", answer.header("Fb-S").orElseThrow());
    }
    assertEquals(0, remoteTill().ask(new Sum()));
  }
}
