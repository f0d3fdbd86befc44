package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;

/**
 * Several senders send messages and requests to an actor by its name, in the process of the only
 * node. Requests whose sender has no message in flight do not pass the network.
 */
final class NamedRequestsRound {
  sealed interface Entry {}

  record Note(int sender, int number) implements Entry {}

  record Count(int sender, int number) implements Entry, Request<Count, Done> {}

  private static final int SENDERS = 3;
  private static final int MESSAGES = 20;
  private static final Duration LIMIT = Duration.ofHours(1);

  /** The numbers that a sender has sent, without requests that it has cancelled. */
  private record Sent(List<Integer> numbers, List<Integer> cancelled) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Map<Integer, List<Integer>> arrived = new HashMap<>(); // by sender; used by the actor's thread

  NamedRequestsRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
  }

  private Cluster join() {
    return Cluster.join("shop", MemoryNetwork.ofOneNode(), options -> options.withScope(simulation.scope()));
  }

  private void handle(Entry entry, ActorContext<Entry> context) {
    switch (entry) {
      case Note note -> add(note.sender, note.number);
      case Count count -> {
        add(count.sender, count.number);
        context.reply(count, Done.DONE);
      }
    }
  }

  private void add(int sender, int number) {
    arrived.computeIfAbsent(sender, key -> new ArrayList<>()).add(number);
  }

  // ---- order

  /** Each message must arrive once and in order; a cancelled request may be missing. */
  void playOrder() throws InterruptedException {
    var sent = new Sent[SENDERS];
    try (var node = join()) {
      node.expose("counter", Entry.class, simulation.scope().anonymous().newActor(this::handle));
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var senderRandom = random.split();
        senders.add(Thread.ofVirtual()
            .start(() -> sent[sender] = send(node.actor("counter", Entry.class), sender, senderRandom)));
      }
      for (var sender : senders) sender.join();
    }
    for (int i = 0; i < SENDERS; i++) {
      var cancelled = sent[i].cancelled;
      var numbers = arrived.getOrDefault(i, List.of());
      assertEquals(numbers.stream().sorted().distinct().toList(), numbers, "order of sender " + i);
      assertEquals(sent[i].numbers, numbers.stream().filter(number -> !cancelled.contains(number)).toList());
    }
  }

  private static Sent send(Actor<Entry> counter, int sender, SplittableRandom random) {
    var sent = new Sent(new ArrayList<>(), new ArrayList<>());
    for (int number = 0; number < MESSAGES; number++) {
      boolean isCancelled = false;
      switch (random.nextInt(8)) {
        case 0 -> counter.sendMessage(new Note(sender, number));
        case 1 -> counter.sendMessageReturn(new Count(sender, number), LIMIT);
        case 2 -> isCancelled = counter.sendMessageReturn(new Count(sender, number), LIMIT).cancel(true);
        case 3 -> isCancelled = isInterrupted(counter, new Count(sender, number));
        default -> counter.ask(new Count(sender, number));
      }
      (isCancelled ? sent.cancelled : sent.numbers).add(number);
    }
    counter.ask(new Count(sender, MESSAGES)); // so that all messages have arrived
    sent.numbers.add(MESSAGES);
    return sent;
  }

  /** Asks on an interrupted thread. Returns whether the request was cancelled. */
  private static boolean isInterrupted(Actor<Entry> counter, Count request) {
    Thread.currentThread().interrupt();
    try {
      counter.ask(request);
      return false;
    } catch (CancellationException interrupt) {
      return true;
    } finally {
      Thread.interrupted();
    }
  }

  // ---- the end of an offer

  /**
   * The actor ends as soon as its offer was withdrawn. No later request may find it ended, and no
   * request may overtake an earlier one.
   */
  void playWithdrawal() throws InterruptedException {
    var lateRequests = new ArrayList<Integer>();
    try (var node = join()) {
      var actor = simulation.scope().anonymous().newActor(this::handle);
      var offer = node.expose("counter", Entry.class, actor);
      var askers = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var askerRandom = random.split();
        askers.add(Thread.ofVirtual()
            .start(() -> ask(node.actor("counter", Entry.class), sender, askerRandom, lateRequests)));
      }
      Thread.yield();
      offer.close();
      actor.close();
      for (var asker : askers) asker.join();
    }
    assertEquals(List.of(), lateRequests, "senders of late requests");
    arrived.forEach((sender, numbers) -> assertEquals(numbers.stream().sorted().distinct().toList(), numbers,
        "order of sender " + sender));
  }

  private static void ask(Actor<Entry> counter, int sender, SplittableRandom random, List<Integer> lateRequests) {
    try {
      for (int number = 0; number < MESSAGES; number++)
        if (random.nextInt(3) == 0) counter.sendMessageReturn(new Count(sender, number), LIMIT);
        else counter.ask(new Count(sender, number));
    } catch (UnavailableException withdrawn) { // as expected
    } catch (ActorStoppedException late) {
      lateRequests.add(sender);
    }
  }
}
