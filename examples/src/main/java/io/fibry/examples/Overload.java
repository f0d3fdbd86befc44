package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A load above capacity, with mailboxes bounded by number, by waiting time, and not at all. Four
 * connections serve 400 queries a second. The load is 1,000, then 200, and clients give up after
 * 200 ms. If too many queries may wait, all are late. The connections then work for clients that
 * have left, even after the load has fallen.
 */
class Overload {
  public static void main(String[] args) throws Exception {
    show("bounded by number", Mailbox.bounded(16, Overflow.REJECT));
    show("bounded by time", Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(50)));
    show("unbounded", Mailbox.unbounded());
  }

  private static void show(String label, Mailbox<Object> mailbox) throws InterruptedException {
    var pool = Pools.fixed(ActorSystem.anonymous().mailbox(mailbox), 4).newActorWithReturn((Integer query) -> {
      Thread.sleep(10);
      return query;
    });
    Handler<Integer> client = query -> pool.sendMessageReturn(query).get(200, TimeUnit.MILLISECONDS);
    int answered = countAnswered(600, 1, client);
    int answeredLater = countAnswered(80, 5, client);
    pool.kill();
    String verdict = answeredLater > 60 ? "OK" : answeredLater < 20 ? "COLLAPSED" : "SLOW";
    System.out.println(label + ": in time " + answered + " of 600, then " + answeredLater + " of 80: " + verdict);
  }

  /** Starts a client every {@code millis}, and returns how many got an answer in time. */
  private static int countAnswered(int clients, int millis, Handler<Integer> client) throws InterruptedException {
    var answers = new AtomicInteger();
    var remaining = new CountDownLatch(clients);
    long begin = System.nanoTime();
    for (int i = 0; i < clients; i++) {
      int query = i;
      Thread.sleep(Duration.ofNanos(begin + query * millis * 1_000_000L - System.nanoTime()));
      Thread.startVirtualThread(() -> {
        try {
          client.handle(query);
          answers.incrementAndGet();
        } catch (Exception refusedOrLate) {}
        remaining.countDown();
      });
    }
    remaining.await();
    return answers.get();
  }
}
