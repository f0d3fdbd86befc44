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
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Messages without answers to other nodes: each is handled, or becomes a dead letter at its sender.
 */
abstract class RemoteTellsContract {
  sealed interface Clerk {}
  record Note(int number) implements Clerk {}
  record Seen() implements Clerk, Request<Seen, Integer> {}
  record Wait() implements Clerk {}
  record Late() implements Clerk, Request<Late, Integer> {}

  private static final Duration CALM = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofMinutes(5);

  private final String app;
  private final TestNetwork network;
  private final ConcurrentLinkedQueue<DeadLetter> letters = new ConcurrentLinkedQueue<>();
  private final ActorScope scope = ActorSystem.openScope("tells-test");
  private final ActorScope senders =
      ActorSystem.openScope("senders", options -> options.withDeadLetters(letters::add));
  private final List<Cluster> nodes = new ArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CountDownLatch waits = new CountDownLatch(1);
  private final LongAdder handled = new LongAdder();
  private final AtomicInteger late = new AtomicInteger(); // requests
  private final AtomicInteger wrong = new AtomicInteger(); // that came before an earlier one

  RemoteTellsContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  private Cluster join(String node, ActorScope of) {
    nodes.add(
        Cluster.join(app, network,
            options -> options.withNode(node).withScope(of).withPartitions(16).withSettleTime(CALM)
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
        if (note.number() <= last[0]) wrong.incrementAndGet();
        last[0] = Math.max(last[0], note.number());
        handled.increment();
      }
      case Seen seen -> context.reply(seen, last[0]);
      case Late asked -> context.reply(asked, late.incrementAndGet());
      case Wait wait -> {
        waits.countDown();
        gate.await();
      }
    }
  }

  private DeadLetter letter() {
    Patience.eventually(() -> !letters.isEmpty());
    return letters.remove();
  }

  private static void checkLost(DeadLetter letter, String text, boolean mayHaveRun) {
    assertEquals(DeadLetter.Reason.NESTED_REQUEST_FAILED, letter.reason());
    var why = assertInstanceOf(UnreachableException.class, letter.cause().orElseThrow());
    assertEquals(text, why.getMessage());
    assertEquals(mayHaveRun ? Outcome.UNKNOWN : Outcome.NOT_DONE, why.outcome());
  }

  @Test
  void hiddenMessageContentsStayHiddenAcrossNodes() {
    try (var hidden = senders.openScope("hidden", options -> options.withMessageContents(false))) {
      var clerk = join("hidden", hidden).actor("clerk", Clerk.class);

      assertTrue(clerk.sendMessage(new Note(4711)));
      var letter = letter();
      var failure = assertThrows(UnreachableException.class, () -> clerk.ask(new Seen()));

      checkLost(letter, "Note did not reach actor 'clerk': no node offers it", false);
      assertFalse(letter.toString().contains("4711"), letter::toString);
      assertEquals("Seen did not reach actor 'clerk': no node offers it", failure.getMessage());
      nodes.removeLast().close();
    }
  }

  @Test
  void aMessageToNobodyIsADeadLetter() {
    assertTrue(sender().actor("clerk", Clerk.class).sendMessage(new Note(7)));

    var letter = letter();
    assertEquals("remote clerk", letter.actor());
    assertEquals("Note[number=7]", letter.message().toString());
    checkLost(letter, "Note[number=7] did not reach actor 'clerk': no node offers it", false);
  }

  @Test
  void messageRefusedRemotelyIsDeadLetterAtSender() throws Exception {
    var clerk = clerk(Mailbox.bounded(1, Overflow.REJECT));
    join("desk").expose("clerk", Clerk.class, clerk);
    var far = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(waits);
    clerk.sendMessage(new Note(1));

    assertTrue(far.sendMessage(new Note(2)));

    checkLost(letter(), "Note[number=2] did not get to actor 'clerk': 'clerk' did not take it", false);
    gate.countDown();
    Patience.eventually(() -> handled.sum() == 1); // its mailbox has room again
    assertEquals(1, far.ask(new Seen()));
  }

  @Test
  void batchedMessagesKeepTheirOrder() {
    join("desk").expose("clerk", Clerk.class, clerk(Mailbox.unbounded()));
    var far = sender().actor("clerk", Clerk.class);

    for (int i = 1; i <= 20_000; i++) {
      assertTrue(i % 7 == 0 ? far.sendMessages(List.of(new Note(i))) : far.sendMessage(new Note(i)));
      if (i % 1_000 == 0) assertEquals(i, far.ask(new Seen())); // a request overtakes none
    }

    assertEquals(20_000, handled.sum());
    assertEquals(0, wrong.get());
    assertEquals(List.of(), List.copyOf(letters));
  }

  @Test
  void aSenderWaitsForASlowActor() throws Exception {
    var clerk = clerk(Mailbox.bounded(10, Overflow.BLOCK));
    join("desk").expose("clerk", Clerk.class, clerk);
    var far = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(waits);
    var sent = new AtomicInteger();
    var sending = Thread.ofVirtual().start(() -> {
      for (int i = 1; i <= 20_000; i++) if (far.sendMessage(new Note(i))) sent.incrementAndGet();
    });
    Patience.eventually(() -> sending.getState() == Thread.State.TIMED_WAITING);
    assertTrue(sent.get() < 10_000, () -> sent + " are on their way");

    gate.countDown();

    Patience.joined(sending);
    assertEquals(20_000, sent.get());
    assertEquals(20_000, far.ask(new Seen()));
    assertEquals(0, wrong.get());
    assertEquals(List.of(), List.copyOf(letters));
  }

  @Test
  void expiredMessageIsNotHandled() {
    var clock = new ManualScheduler();
    var desk = join("a", scope.openScope("timed", options -> options.withScheduler(clock)));
    desk.expose("clerk", Clerk.class, clerk(Mailbox.bounded(1, Overflow.BLOCK)));
    var far = sender().actor("clerk", Clerk.class);
    var limit = Patience.LONG.dividedBy(2); // notes have twice as long
    far.sendMessage(new Wait());
    Patience.await(waits); // it is being handled
    far.sendMessage(new Note(1)); // has the room
    far.sendMessage(new Note(2)); // waits for room, and all behind it, too
    far.sendMessageReturn(new Late(), limit);
    far.sendMessage(new Note(3));

    Patience.eventually(() -> scope.report().queued() >= 3); // so the request has arrived
    clock.advance(limit);
    gate.countDown();

    assertEquals(3, far.ask(new Seen()));
    assertEquals(0, late.get());
  }

  @Test
  void interruptedSenderGetsDeadLetter() throws Exception {
    var clerk = clerk(Mailbox.bounded(10, Overflow.BLOCK));
    join("desk").expose("clerk", Clerk.class, clerk);
    var far = sender().actor("clerk", Clerk.class);
    clerk.sendMessage(new Wait());
    Patience.await(waits);
    var last = new AtomicInteger();
    var sending = Thread.ofVirtual().start(() -> {
      int i = 1;
      while (far.sendMessage(new Note(i))) i++;
      last.set(i);
    });
    Patience.eventually(() -> sending.getState() == Thread.State.TIMED_WAITING);
    sending.interrupt();
    Patience.joined(sending);
    gate.countDown();

    checkLost(letter(), "Note[number=" + last + "] did not get to actor 'clerk': its sender was interrupted while it "
        + "waited for capacity", false);
    assertEquals(last.get() - 1, far.ask(new Seen()));
  }

  // ---- entities

  private Entities<String, Clerk> home(Cluster node) {
    return node.host("clerk", Clerk.class, scope.anonymous(), LONG,
        (builder, key) -> builder.initialState(() -> new int[1]).newActor(this::handle));
  }

  @Test
  void messagesReachMovingActors() throws Exception {
    home(join("a"));
    var clerks = sender().entities("clerk", Clerk.class);
    var sending = Thread.ofVirtual().start(() -> {
      for (int i = 1; i <= 300; i++)
        for (int key = 0; key < 10; key++) clerks.actor("k" + key).sendMessage(new Note(i));
    });
    for (int i = 0; i < 3; i++) {
      var b = join("b" + i);
      home(b);
      b.close();
    }
    Patience.joined(sending);

    for (int key = 0; key < 10; key++) clerks.actor("k" + key).ask(new Seen());
    assertEquals(3_000, handled.sum());
    assertEquals(List.of(), List.copyOf(letters));
  }

  @Test
  void refusedMessagesOfBatchAreDeadLetters() {
    join("a").host("clerk", Clerk.class, scope.anonymous(), LONG, (builder, key) -> {
      if (key.startsWith("none")) throw new IllegalStateException("made up");
      return builder.initialState(() -> new int[1]).newActor(this::handle);
    });
    var clerks = sender().entities("clerk", Clerk.class);
    for (int i = 1; i <= 600; i++) clerks.actor((i % 3 == 0 ? "none" : "k") + i % 40).sendMessage(new Note(i));

    Patience.eventually(() -> handled.sum() + letters.size() == 600);

    assertEquals(IntStream.rangeClosed(1, 200).mapToObj(i -> "Note[number=" + 3 * i + "]").sorted().toList(),
        letters.stream().map(one -> one.message().toString()).sorted().toList());
  }

  /** Those for which nobody is home at the moment wait for the next one. */
  @Test
  void messageAccountsAddUpAcrossNodeCrash() {
    home(join("a"));
    var b = join("b");
    home(b);
    var clerks = sender().entities("clerk", Clerk.class);
    int rounds = 200;
    for (int i = 1; i <= rounds; i++) {
      if (i == rounds / 2) {
        Patience.eventually(() -> handled.sum() > 20 * rounds / 4); // the rest of the half has not arrived yet
        network.end(b);
        nodes.remove(b);
      }
      for (int key = 0; key < 20; key++) assertTrue(clerks.actor("k" + key).sendMessage(new Note(i)));
    }
    int sent = 20 * rounds;
    Patience.eventually(() -> handled.sum() + letters.size() >= sent);

    long certain = letters.stream()
        .filter(one -> one.cause().orElseThrow() instanceof UnreachableException far
            && far.outcome() == Outcome.NOT_DONE)
        .count();
    assertTrue(handled.sum() + certain <= sent, () -> handled + " handled, " + certain + " lost, of " + sent);
    assertFalse(IntStream.range(0, 20).anyMatch(key -> clerks.actor("k" + key).ask(new Seen()) != rounds));
  }
}
