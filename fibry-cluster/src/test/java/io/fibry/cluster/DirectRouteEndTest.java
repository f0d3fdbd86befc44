package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests requests by name that are sent while the offer of their actor ends. */
class DirectRouteEndTest {
  sealed interface Entry {}

  record Hold() implements Entry {}

  record Note() implements Entry {}

  record Count() implements Entry, Request<Count, Done> {}

  /** A request whose decoding waits on all threads except its sender. */
  record Slow(String text) implements Entry, Request<Slow, Done> {
    private static volatile DirectRouteEndTest test; // the running test
    private static volatile Thread sender;

    Slow {
      if (Thread.currentThread() != sender) {
        test.isHolding.countDown();
        Patience.await(test.mayContinue);
      }
    }
  }

  private final CompletableFuture<Exitable> offer = new CompletableFuture<>();
  private final CountDownLatch isHolding = new CountDownLatch(1);
  private final CountDownLatch mayContinue = new CountDownLatch(1);
  private final CountDownLatch isDropped = new CountDownLatch(1);
  private final ActorScope scope =
      ActorSystem.openScope("direct-route-end-test", options -> options.withDeadLetterListener(letter -> {
        isDropped.countDown();
        offer.join().askExit();
      }));

  @AfterEach
  void close() {
    mayContinue.countDown();
    scope.close();
  }

  private Actor<Entry> newCounter(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).newActor(this::handle);
  }

  private void handle(Entry entry, ActorContext<Entry> context) {
    switch (entry) {
      case Hold hold -> {
        isHolding.countDown();
        Patience.await(mayContinue);
      }
      case Note note -> {}
      case Count count -> context.reply(count, Done.DONE);
      case Slow slow -> context.reply(slow, Done.DONE);
    }
  }

  /** The listener of dead letters closes the offer while a request is being sent. */
  @Test
  void listenerClosesOfferWhenRequestDropsOldestMessage() {
    try (var node = Cluster.local("shop")) {
      var actor = newCounter(Mailbox.bounded(1, Overflow.DROP_OLDEST));
      offer.complete(node.expose("counter", Entry.class, actor));
      actor.sendMessage(new Hold());
      Patience.await(isHolding);
      actor.sendMessage(new Note());

      var answer = Patience.callOnFiber(() -> node.actor("counter", Entry.class).ask(new Count()));

      Patience.await(isDropped);
      mayContinue.countDown();
      assertEquals(Done.DONE, Patience.value(answer));
      Patience.awaitEnd(offer.join()::waitForExit);
    }
  }

  /** An earlier request waits in the reader of the network while the offer is being closed. */
  @Test
  void requestDoesNotOvertakeEarlierRequestWhileOfferIsClosed() {
    try (var node = Cluster.local("shop")) {
      offer.complete(node.expose("counter", Entry.class, newCounter(Mailbox.unbounded())));
      var counter = node.actor("counter", Entry.class);
      Slow.test = this;
      Slow.sender = Thread.currentThread();
      var earlierAnswer = counter.sendMessageReturn(new Slow("earlier"));
      Patience.await(isHolding);
      var closer = Patience.startFiber(offer.join()::askExit);
      Patience.eventually(() -> Patience.isParked(closer)
          && Arrays.toString(closer.getStackTrace()).contains("MemorySubscriber.close"));

      assertThrows(UnavailableException.class, () -> counter.ask(new Count()));

      mayContinue.countDown();
      assertEquals(Done.DONE, Patience.value(earlierAnswer));
      Patience.awaitEnd(closer);
    }
  }
}
