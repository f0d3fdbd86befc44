package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Four connections are good for 400 queries a second. For more than half a second 1,000 a second
 * come, then 200 again, and whoever has waited for 200 ms gives up. Where too many may wait, all of
 * them wait too long, and the queries are made for people who have gone; also when the load has
 * fallen.
 */
class Overload {
  public static void main(String[] args) throws Exception {
    show("bounded by number", Mailbox.bounded(16, Overflow.REJECT));
    show("bounded by time", Mailbox.bounded(1_000, Overflow.REJECT).within(Duration.ofMillis(50)));
    show("unbounded", Mailbox.unbounded());
  }

  private static void show(String what, Mailbox<Object> mailbox) throws InterruptedException {
    var pool = Pools.fixed(ActorSystem.anonymous().mailbox(mailbox), 4).newActorWithReturn((Integer query) -> {
      Thread.sleep(10);
      return query;
    });
    int answered = inTime(600, 1, query -> pool.sendMessageReturn(query).get(200, TimeUnit.MILLISECONDS));
    int answeredAfter = inTime(80, 5, query -> pool.sendMessageReturn(query).get(200, TimeUnit.MILLISECONDS));
    pool.kill();
    String became = answeredAfter > 60 ? "OK" : answeredAfter < 20 ? "COLLAPSED" : "SLOW";
    System.out.println(what + ": in time " + answered + " of 600, then " + answeredAfter + " of 80: " + became);
  }

  /**
   * How many of so many clients, one each so many milliseconds, got an answer that they still
   * waited for.
   */
  private static int inTime(int clients, int millis, Client client) throws InterruptedException {
    var answers = new AtomicInteger();
    var all = new CountDownLatch(clients);
    long begin = System.nanoTime();
    for (int i = 0; i < clients; i++) {
      int query = i;
      Thread.sleep(Duration.ofNanos(begin + query * millis * 1_000_000L - System.nanoTime()));
      Thread.startVirtualThread(() -> {
        try {
          client.ask(query);
          answers.incrementAndGet();
        } catch (Exception refusedOrGaveUp) { // as it is
        }
        all.countDown();
      });
    }
    all.await();
    return answers.get();
  }

  private interface Client {
    void ask(int query) throws Exception;
  }
}
