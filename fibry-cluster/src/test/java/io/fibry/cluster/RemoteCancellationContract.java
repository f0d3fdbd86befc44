package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
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

/** Requests to actors of other nodes whose askers do not wait any more. */
abstract class RemoteCancellationContract {
  /**
   * Work.
   *
   * @param holds the actor is busy until the gate opens, or the answer is not awaited
   */
  record Job(String name, boolean holds) implements Request<Job, String> {}

  private static final Job FIRST = new Job("first", true);
  private static final Job SECOND = new Job("second", false);
  private static final Job THIRD = new Job("third", false);

  private final ActorScope scope = ActorSystem.openScope("taken-back-test");
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final CompletableFuture<Boolean> unneeded = new CompletableFuture<>(); // the first job, as it sees it
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
    if (job.holds) {
      begun.countDown();
      while (gate.getCount() > 0 && !context.isCancelled()) LockSupport.parkNanos(100_000);
      unneeded.complete(context.isCancelled());
    }
    context.reply(job, job.name + " is done");
  }

  private Actor<Job> offered() {
    a.expose("worker", Job.class, scope.named("worker").<Job>newActor(this::handle));
    return b.actor("worker", Job.class);
  }

  private Actor<Job> entity() {
    a.host("worker", Job.class, scope.anonymous(), Duration.ofMinutes(1),
        (how, key) -> scope.named("worker").newActor(this::handle));
    return b.entities("worker", Job.class).actor("x");
  }

  private long waiting() {
    return scope.actors().stream().filter(one -> one.name().equals("worker")).mapToLong(one -> one.queued()).sum();
  }

  /** A node can only take back what it knows to be asked, and it may begin before it knows. */
  private void awaitAsked(int requests) {
    Patience.eventually(() -> a.health().pendingRequests() == requests);
  }

  private void whatIsCancelledIsNotHandled(Actor<Job> worker) throws InterruptedException {
    var first = worker.sendMessageReturn(FIRST);
    begun.await();
    var second = worker.sendMessageReturn(SECOND);
    awaitAsked(2);
    Patience.eventually(() -> waiting() == 1);

    second.cancel(false);
    Patience.eventually(() -> waiting() == 0);
    var third = worker.sendMessageReturn(THIRD);
    gate.countDown();

    assertEquals("first is done", first.join());
    assertEquals("third is done", third.join());
    assertEquals(List.of("first", "third"), List.copyOf(handled));
    assertEquals(false, unneeded.join());
  }

  @Test
  void cancelledRequestIsNotHandledByActor() throws Exception {
    whatIsCancelledIsNotHandled(offered());
  }

  @Test
  void cancelledRequestIsNotHandledByEntity() throws Exception {
    whatIsCancelledIsNotHandled(entity());
  }

  @Test
  void requestOfInterruptedAskerIsNotHandled() throws Exception {
    var worker = offered();
    worker.sendMessageReturn(FIRST);
    begun.await();
    var failure = new CompletableFuture<Throwable>();
    var asker = Thread.ofVirtual().start(
        () -> failure.complete(assertThrows(CancellationException.class, () -> worker.ask(SECOND))));
    awaitAsked(2);
    Patience.eventually(() -> waiting() == 1);

    asker.interrupt();

    failure.join();
    Patience.eventually(() -> waiting() == 0);
  }

  @Test
  void handlerSeesThatItsRequestIsCancelled() throws Exception {
    var first = offered().sendMessageReturn(FIRST);
    begun.await();
    awaitAsked(1);

    first.cancel(false);

    assertEquals(true, unneeded.join());
  }
}
