package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;

/**
 * Numbered messages and requests of several senders to an actor by its name, and the order in which
 * they arrive. Some pass the network, and others take the direct route.
 */
final class NamedMessages {
  sealed interface Entry {}

  record Note(int sender, int number) implements Entry {}

  /** A request whose sender and decoding thread let other threads run. */
  record Count(int sender, int number) implements Entry, Request<Count, Done> {
    Count {
      Thread.yield();
    }
  }

  /** The numbers of a sender that must arrive, and of cancelled requests, which may arrive. */
  record Sent(List<Integer> numbers, List<Integer> cancelled, List<Future<Done>> answers) {}

  private final Map<Integer, List<Integer>> arrived = new HashMap<>(); // by sender; used by the actor, then by the test

  /** The handler of the actor. */
  void handle(Entry entry, ActorContext<Entry> context) {
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

  /** Sends messages and requests at random. Returns when they have arrived. */
  static Sent send(Actor<Entry> counter, int sender, int messages, SplittableRandom random, Duration limit) {
    var sent = new Sent(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int number = 0; number < messages; number++) {
      boolean isCancelled = false;
      switch (random.nextInt(10)) {
        case 0 -> counter.sendMessage(new Note(sender, number));
        case 1 -> sent.answers.add(counter.sendMessageReturn(new Count(sender, number), limit));
        case 2 -> isCancelled = counter.sendMessageReturn(new Count(sender, number), limit).cancel(true);
        case 3 -> isCancelled = isCancelledByInterrupt(counter, new Count(sender, number));
        case 4 -> counter.ask(new Count(sender, number), limit);
        default -> counter.ask(new Count(sender, number));
      }
      (isCancelled ? sent.cancelled : sent.numbers).add(number);
    }
    counter.ask(new Count(sender, messages)); // so that all messages have arrived
    sent.numbers.add(messages);
    return sent;
  }

  /** Asks on an interrupted thread. Returns whether the request was cancelled. */
  private static boolean isCancelledByInterrupt(Actor<Entry> counter, Count request) {
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

  /** Checks that the messages of a sender arrived once and in order. */
  void check(int sender, Sent sent) {
    checkOrder();
    assertEquals(sent.numbers, arrived.getOrDefault(sender, List.of()).stream()
        .filter(number -> !sent.cancelled.contains(number)).toList(), "messages of sender " + sender);
  }

  /** Checks that no message arrived twice, or after a later message of its sender. */
  void checkOrder() {
    arrived.forEach((sender, numbers) -> assertEquals(numbers.stream().sorted().distinct().toList(), numbers,
        "order of sender " + sender));
  }
}
