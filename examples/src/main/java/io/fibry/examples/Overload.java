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
 * A load above capacity, and mailboxes bounded by number, by time, and not at all. Four connections
 * serve 400 queries a second; the load is 1,000, then 200, and clients give up after 200 ms. If too
 * many queries may wait, all are late, and the connections work for clients that have left, even
 * when the load has fallen.
 */
class Overload {
  public static void main(String[] args) throws Exception {
    show("bounded by number", Mailbox.bounded(16, Overflow.REJECT));
    show("bounded by time", Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(50)));
    show("unbounded", Mailbox.unbounded());
  }

  private static void show(String what, Mailbox<Object> mailbox) throws InterruptedException {
    var pool = Pools.fixed(ActorSystem.anonymous().mailbox(mailbox), 4).newActorWithReturn((Integer query) -> {
      Thread.sleep(10);
      return query;
    });
    Handler<Integer> client = query -> pool.sendMessageReturn(query).get(200, TimeUnit.MILLISECONDS);
    int answered = inTime(600, 1, client);
    int answeredAfter = inTime(80, 5, client);
    pool.kill();
    String became = answeredAfter > 60 ? "OK" : answeredAfter < 20 ? "COLLAPSED" : "SLOW";
    System.out.println(what + ": in time " + answered + " of 600, then " + answeredAfter + " of 80: " + became);
  }

  /** Starts a client every {@code millis}; returns how many were answered in time. */
  private static int inTime(int clients, int millis, Handler<Integer> client) throws InterruptedException {
    var answers = new AtomicInteger();
    var all = new CountDownLatch(clients);
    long begin = System.nanoTime();
    for (int i = 0; i < clients; i++) {
      int query = i;
      Thread.sleep(Duration.ofNanos(begin + query * millis * 1_000_000L - System.nanoTime()));
      Thread.startVirtualThread(() -> {
        try {
          client.handle(query);
          answers.incrementAndGet();
        } catch (Exception refusedOrLate) {}
        all.countDown();
      });
    }
    all.await();
    return answers.get();
  }
}
