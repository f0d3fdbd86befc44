package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a one-way message to another node is handled, or becomes a dead letter at its
 * sender's node.
 */
abstract class RemoteTellsContract {
  sealed interface Clerk {}
  record Note(int number) implements Clerk {}
  record LastNumber() implements Clerk, Request<LastNumber, Integer> {}
  record Wait() implements Clerk {}
  record Count() implements Clerk, Request<Count, Integer> {}

  private static final Duration SETTLE_TIME = Duration.ofMillis(300);
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);

  private final String app;
  private final TestNetwork network;
  private final ConcurrentLinkedQueue<DeadLetter> deadLetters = new ConcurrentLinkedQueue<>();
  private final ActorScope scope = ActorSystem.openScope("tells-test");
  private final ActorScope senders =
      ActorSystem.openScope("senders", options -> options.withDeadLetterListener(deadLetters::add));
  private final List<Cluster> nodes = new ArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch handlerWaiting = new CountDownLatch(1);
  private final LongAdder handled = new LongAdder();
  private final AtomicInteger handledRequests = new AtomicInteger(); // number of handled Count requests
  private final AtomicInteger overtakenNotes = new AtomicInteger(); // handled after a note with a higher number

  RemoteTellsContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  private Cluster join(String node, ActorScope nodeScope) {
    nodes.add(
        Cluster.join(app, network,
            options -> options.withNode(node).withScope(nodeScope).withPartitions(16).withSettleTime(SETTLE_TIME)
                .withAskLimit(Patience.LONG)));
    return nodes.getLast();
  }

  private Cluster join(String node) {
    return join(node, scope);
  }

  private Cluster sender() {
    return join("sender", senders);
  }

  @AfterEach
  void close() {
    gate.countDown();
    nodes.forEach(Cluster::close);
    scope.close();
    senders.close();
  }

  private Actor<Clerk> clerk(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).onFailure(FailurePolicy.resume()).initialState(() -> new int[1])
        .newActor(this::handle);
  }

  private void handle(int[] last, Clerk message, ActorContext<Clerk> context) throws InterruptedException {
    switch (message) {
      case Note note -> {
        if (note.number() <= last[0]) overtakenNotes.incrementAndGet();
        last[0] = Math.max(last[0], note.number());
        handled.increment();
      }
      case LastNumber request -> context.reply(request, last[0]);
      case Count request -> context.reply(request, handledRequests.incrementAndGet());
      case Wait wait -> {
        handlerWaiting.countDown();
        gate.await();
      }
    }
  }

  private DeadLetter nextLetter() {
    Patience.eventually(() -> !deadLetters.isEmpty());
    return deadLetters.remove();
  }

  private static void checkUndelivered(DeadLetter letter, String text, boolean mayHaveRun) {
    assertEquals(DeadLetter.Reason.NESTED_REQUEST_FAILED, letter.reason());
    var failure = assertInstanceOf(UnavailableException.class, letter.cause().orElseThrow());
    assertEquals(text, failure.getMessage());
    assertEquals(mayHaveRun ? RequestOutcome.UNKNOWN : RequestOutcome.NOT_DONE, failure.outcome());
  }

  @Test
  void deadLettersAndFailuresOmitContentsThatScopeHides() {
    try (var hidingScope = senders.openScope("hidden", options -> options.withMessageContents(false))) {
      var clerk = join("hidden", hidingScope).actor("clerk", Clerk.class);

      assertTrue(clerk.sendMessage(new Note(4711)));
      var letter = nextLetter();
      var failure = assertThrows(UnavailableException.class, () -> clerk.ask(new LastNumber()));

      checkUndelivered(letter, "Note did not reach actor 'clerk': no node offers it", false);
      assertFalse(letter.toString().contains("4711"), letter::toString);
      assertEquals("LastNumber did not reach actor 'clerk': no node offers it", failure.getMessage());
      nodes.removeLast().close();
    }
  }

  @Test
  void messageToUnexposedNameIsDeadLetter() {
    assertTrue(sender().actor("clerk", Clerk.class).sendMessage(new Note(7)));

    var letter = nextLetter();
    assertEquals("remote clerk", letter.actor());
    assertEquals("Note[number=7]", letter.message().toString());
    checkUndelivered(letter, "Note[number=7] did not reach actor 'clerk': no node offers it", false);
  }

  @Test
  void messageRefusedRemotelyIsDeadLetterAtSender() throws Exception {
    var clerk = clerk(Mailbox.bounded(1, Overflow.REJECT));
    join("desk").expose("clerk", Clerk.class, clerk);
    var remoteClerk = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(handlerWaiting);
    clerk.sendMessage(new Note(1));

    assertTrue(remoteClerk.sendMessage(new Note(2)));

    checkUndelivered(nextLetter(), "Note[number=2] did not get to actor 'clerk': 'clerk' did not accept it", false);
    gate.countDown();
    Patience.eventually(() -> handled.sum() == 1); // the mailbox has capacity again
    assertEquals(1, remoteClerk.ask(new LastNumber()));
  }

  @Test
  void batchedMessagesAndRequestsKeepTheirOrder() {
    join("desk").expose("clerk", Clerk.class, clerk(Mailbox.unbounded()));
    var remoteClerk = sender().actor("clerk", Clerk.class);

    for (int i = 1; i <= 20_000; i++) {
      assertTrue(i % 7 == 0 ? remoteClerk.sendMessages(List.of(new Note(i))) : remoteClerk.sendMessage(new Note(i)));
      if (i % 1_000 == 0) assertEquals(i, remoteClerk.ask(new LastNumber())); // a request overtakes no note
    }

    assertEquals(20_000, handled.sum());
    assertEquals(0, overtakenNotes.get());
    assertEquals(List.of(), List.copyOf(deadLetters));
  }

  @Test
  void batchLargerThanWireMessageArrivesWholeAndInOrder() {
    join("desk").expose("clerk", Clerk.class, clerk(Mailbox.unbounded()));
    var remoteClerk = sender().actor("clerk", Clerk.class);

    // more bytes than a message of NATS may have
    assertTrue(remoteClerk.sendMessages(IntStream.rangeClosed(1, 200_000).mapToObj(Note::new).toList()));

    assertEquals(200_000, remoteClerk.ask(new LastNumber()));
    assertEquals(200_000, handled.sum());
    assertEquals(0, overtakenNotes.get());
    assertEquals(List.of(), List.copyOf(deadLetters));
  }

  @Test
  void senderWaitsForCapacityOfSlowRemoteActor() throws Exception {
    var clerk = clerk(Mailbox.bounded(10, Overflow.BLOCK));
    join("desk").expose("clerk", Clerk.class, clerk);
    var remoteClerk = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(handlerWaiting);
    var sentCount = new AtomicInteger();
    var sending = new CompletableFuture<Void>();
    var senderThread = Patience.startFiber(() -> {
      for (int i = 1; i <= 20_000; i++) if (remoteClerk.sendMessage(new Note(i))) sentCount.incrementAndGet();
      return null;
    }, sending);
    Patience.eventually(() -> senderThread.getState() == Thread.State.TIMED_WAITING);
    assertTrue(sentCount.get() < 10_000, () -> sentCount + " are in flight");

    gate.countDown();

    Patience.value(sending);
    assertEquals(20_000, sentCount.get());
    assertEquals(20_000, remoteClerk.ask(new LastNumber()));
    assertEquals(0, overtakenNotes.get());
    assertEquals(List.of(), List.copyOf(deadLetters));
  }

  @Test
  void requestThatExpiresBehindFullMailboxIsNotHandled() {
    var clock = new ManualScheduler();
    var desk = join("a", scope.openScope("timed", options -> options.withScheduler(clock)));
    desk.expose("clerk", Clerk.class, clerk(Mailbox.bounded(1, Overflow.BLOCK)));
    var remoteClerk = sender().actor("clerk", Clerk.class);
    var limit = Patience.LONG.dividedBy(2); // the limit of a note is twice as long
    remoteClerk.sendMessage(new Wait());
    Patience.await(handlerWaiting); // the actor handles Wait
    remoteClerk.sendMessage(new Note(1)); // fills the mailbox
    remoteClerk.sendMessage(new Note(2)); // waits for capacity, and so do later messages
    remoteClerk.sendMessageReturn(new Count(), limit);
    remoteClerk.sendMessage(new Note(3));

    Patience.eventually(() -> scope.report().queued() >= 3); // so the request has arrived
    clock.advance(limit);
    gate.countDown();

    assertEquals(3, remoteClerk.ask(new LastNumber()));
    assertEquals(0, handledRequests.get());
  }

  @Test
  void messageOfInterruptedWaitingSenderIsDeadLetter() throws Exception {
    var clerk = clerk(Mailbox.bounded(10, Overflow.BLOCK));
    join("desk").expose("clerk", Clerk.class, clerk);
    var remoteClerk = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(handlerWaiting);
    var lastNumber = new CompletableFuture<Integer>();
    var senderThread = Patience.startFiber(() -> {
      int i = 1;
      while (remoteClerk.sendMessage(new Note(i))) i++;
      return i;
    }, lastNumber);
    Patience.eventually(() -> senderThread.getState() == Thread.State.TIMED_WAITING);
    senderThread.interrupt();
    int last = Patience.value(lastNumber);
    gate.countDown();

    checkUndelivered(nextLetter(), "Note[number=" + last + "] did not get to actor 'clerk': its sender was interrupted "
        + "while it waited for capacity", false);
    assertEquals(last - 1, remoteClerk.ask(new LastNumber()));
  }

  // ---- entities

  private Entities<String, Clerk> host(Cluster node) {
    return node.host("clerk", Clerk.class, scope.anonymous(), IDLE_LIMIT,
        (builder, key) -> builder.initialState(() -> new int[1]).newActor(this::handle));
  }

  @Test
  void messagesSentWhileActorsMoveAreAllHandled() throws Exception {
    host(join("a"));
    var clerks = sender().entities("clerk", Clerk.class);
    var sending = CompletableFuture.runAsync(() -> {
      for (int i = 1; i <= 300; i++)
        for (int key = 0; key < 10; key++) clerks.actor("k" + key).sendMessage(new Note(i));
    }, Patience::startFiber);
    for (int i = 0; i < 3; i++) {
      var b = join("b" + i);
      host(b);
      b.close();
    }
    Patience.value(sending);

    for (int key = 0; key < 10; key++) clerks.actor("k" + key).ask(new LastNumber());
    assertEquals(3_000, handled.sum());
    assertEquals(List.of(), List.copyOf(deadLetters));
  }

  @Test
  void onlyRefusedMessagesOfBatchBecomeDeadLetters() {
    join("a").host("clerk", Clerk.class, scope.anonymous(), IDLE_LIMIT, (builder, key) -> {
      if (key.startsWith("none")) throw new IllegalStateException("made up");
      return builder.initialState(() -> new int[1]).newActor(this::handle);
    });
    var clerks = sender().entities("clerk", Clerk.class);
    for (int i = 1; i <= 600; i++) clerks.actor((i % 3 == 0 ? "none" : "k") + i % 40).sendMessage(new Note(i));

    Patience.eventually(() -> handled.sum() + deadLetters.size() == 600);

    assertEquals(IntStream.rangeClosed(1, 200).mapToObj(i -> "Note[number=" + 3 * i + "]").sorted().toList(),
        deadLetters.stream().map(letter -> letter.message().toString()).sorted().toList());
  }

  /** Messages to keys without an owner wait for the next owner. */
  @Test
  void messageSentDuringNodeCrashIsHandledOrDeadLetter() {
    host(join("a"));
    var b = join("b");
    host(b);
    var clerks = sender().entities("clerk", Clerk.class);
    int rounds = 200;
    for (int i = 1; i <= rounds; i++) {
      if (i == rounds / 2) {
        Patience.eventually(() -> handled.sum() > 20 * rounds / 4); // other notes of this half may be in flight
        network.crash(b);
        nodes.remove(b);
      }
      for (int key = 0; key < 20; key++) assertTrue(clerks.actor("k" + key).sendMessage(new Note(i)));
    }
    int sentCount = 20 * rounds;
    Patience.eventually(() -> handled.sum() + deadLetters.size() >= sentCount);

    long notDone = deadLetters.stream()
        .filter(letter -> letter.cause().orElseThrow() instanceof UnavailableException failure
            && failure.outcome() == RequestOutcome.NOT_DONE)
        .count();
    assertTrue(handled.sum() + notDone <= sentCount, () -> handled + " handled, " + notDone + " lost, of " + sentCount);
    assertFalse(IntStream.range(0, 20).anyMatch(key -> clerks.actor("k" + key).ask(new LastNumber()) != rounds));
  }
}
