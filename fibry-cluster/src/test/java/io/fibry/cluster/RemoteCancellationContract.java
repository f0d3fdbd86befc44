package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that remote requests are not handled when their askers have stopped waiting. */
abstract class RemoteCancellationContract {
  /**
   * A request to a worker.
   *
   * @param isLong whether the handler runs until the gate opens or the request is cancelled
   */
  record Job(String name, boolean isLong) implements Request<Job, String> {}

  private static final Job FIRST = new Job("first", true);
  private static final Job SECOND = new Job("second", false);
  private static final Job THIRD = new Job("third", false);
  private static final Mailbox<Object> SMALL_MAILBOX = Mailbox.bounded(1, Overflow.BLOCK);

  private final ActorScope scope = ActorSystem.openScope("cancellation-test");
  private final CountDownLatch firstJobStarted = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CompletableFuture<Boolean> firstJobCancelled = new CompletableFuture<>(); // as seen by its handler
  private final Queue<String> handled = new ConcurrentLinkedQueue<>();
  private final Cluster a;
  private final Cluster b;

  RemoteCancellationContract(String app, TestNetwork network) {
    a = Cluster.join(app, network, options -> options.withNode("a").withPartitions(4));
    b = Cluster.join(app, network, options -> options.withNode("b").withPartitions(4));
  }

  @AfterEach
  void close() {
    gate.countDown();
    b.close();
    a.close();
    scope.close();
  }

  private void handle(Job job, ActorContext<Job> context) {
    handled.add(job.name);
    if (job.isLong) {
      firstJobStarted.countDown();
      while (gate.getCount() > 0 && !context.isCancelled()) LockSupport.parkNanos(100_000);
      firstJobCancelled.complete(context.isCancelled());
    }
    context.reply(job, job.name + " is done");
  }

  private Actor<Job> exposedWorker(Mailbox<Object> mailbox) {
    a.expose("worker", Job.class, scope.named("worker").mailbox(mailbox).<Job>newActor(this::handle));
    return b.actor("worker", Job.class);
  }

  private Actor<Job> workerEntity(Mailbox<Object> mailbox) {
    a.host("worker", Job.class, scope.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> scope.named("worker").mailbox(mailbox).newActor(this::handle));
    return b.entities("worker", Job.class).actor("x");
  }

  private long countQueued() {
    return scope.actors().stream().filter(actor -> actor.name().equals("worker"))
        .mapToLong(actor -> actor.queued()).sum();
  }

  /**
   * Waits until node a has this number of registered requests. The node removes cancelled requests.
   */
  private void awaitRegistered(int requests) {
    Patience.eventually(() -> a.health().pendingRequests() == requests);
  }

  private void checkCancelledRequestIsNotHandled(Actor<Job> worker) {
    var first = worker.sendMessageReturn(FIRST);
    Patience.await(firstJobStarted);
    var second = worker.sendMessageReturn(SECOND);
    awaitRegistered(2);
    Patience.eventually(() -> countQueued() == 1);

    second.cancel(false);
    Patience.eventually(() -> countQueued() == 0);
    var third = worker.sendMessageReturn(THIRD);
    gate.countDown();

    assertEquals("first is done", Patience.value(first));
    assertEquals("third is done", Patience.value(third));
    assertEquals(List.of("first", "third"), List.copyOf(handled));
    assertEquals(false, Patience.value(firstJobCancelled));
  }

  @Test
  void cancelledRequestIsNotHandledByActor() {
    checkCancelledRequestIsNotHandled(exposedWorker(Mailbox.unbounded()));
  }

  @Test
  void cancelledRequestIsNotHandledByEntity() {
    checkCancelledRequestIsNotHandled(workerEntity(Mailbox.unbounded()));
  }

  /** Fills the mailbox, so that later requests wait on the node, outside the mailbox. */
  private void checkRequestCancelledWhileMailboxIsFullIsNotHandled(Actor<Job> worker) {
    var first = worker.sendMessageReturn(FIRST);
    Patience.await(firstJobStarted);
    var second = worker.sendMessageReturn(SECOND);
    Patience.eventually(() -> countQueued() == 1);
    var third = worker.sendMessageReturn(THIRD); // is delivered when the mailbox has space
    awaitRegistered(3);
    var fourth = worker.sendMessageReturn(new Job("fourth", false));
    awaitRegistered(4);

    fourth.cancel(false);
    awaitRegistered(3);
    gate.countDown();

    assertEquals("first is done", Patience.value(first));
    assertEquals("second is done", Patience.value(second));
    assertEquals("third is done", Patience.value(third));
    var fifth = worker.sendMessageReturn(new Job("fifth", false));
    assertEquals("fifth is done", Patience.value(fifth));
    assertEquals(List.of("first", "second", "third", "fifth"), List.copyOf(handled));
  }

  @Test
  void requestCancelledWhileMailboxIsFullIsNotHandledByActor() {
    checkRequestCancelledWhileMailboxIsFullIsNotHandled(exposedWorker(SMALL_MAILBOX));
  }

  @Test
  void requestCancelledWhileMailboxIsFullIsNotHandledByEntity() {
    checkRequestCancelledWhileMailboxIsFullIsNotHandled(workerEntity(SMALL_MAILBOX));
  }

  @Test
  void requestOfInterruptedAskerIsNotHandled() {
    var worker = exposedWorker(Mailbox.unbounded());
    worker.sendMessageReturn(FIRST);
    Patience.await(firstJobStarted);
    var failure = new CompletableFuture<CancellationException>();
    var asker = Patience.startFiber(
        () -> assertThrows(CancellationException.class, () -> worker.ask(SECOND)), failure);
    awaitRegistered(2);
    Patience.eventually(() -> countQueued() == 1);

    asker.interrupt();

    Patience.value(failure);
    Patience.eventually(() -> countQueued() == 0);
  }

  @Test
  void handlerSeesThatItsRequestIsCancelled() {
    var first = exposedWorker(Mailbox.unbounded()).sendMessageReturn(FIRST);
    Patience.await(firstJobStarted);
    awaitRegistered(1);

    first.cancel(false);

    assertEquals(true, Patience.value(firstJobCancelled));
  }
}
