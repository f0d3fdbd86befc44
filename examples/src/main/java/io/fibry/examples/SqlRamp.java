package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Four connections, and a load that rises above their capacity, then falls. A server that refuses
 * early keeps serving. One that lets all in is late for all, and works for clients that have left.
 */
class SqlRamp {
  private static final Duration PATIENCE = Duration.ofMillis(250); // of a client
  private static final int[] LOAD = {60, 120, 600, 60}; // per half second; about 130 can be served

  public static void main(String[] args) throws Exception {
    var workers = Pools.fixed(ActorSystem.anonymous().mailbox(Mailbox.bounded(16, Overflow.REJECT)), 4)
        .newActorWithReturn((Integer queries) -> {
          for (int i = 0; i < queries; i++) Thread.sleep(5); // a query
          return queries;
        });
    ramp("refuses", () -> workers.ask(3, PATIENCE));

    var connections = new Semaphore(4, true);
    ramp("lets all in", () -> {
      for (int i = 0; i < 3; i++) {
        connections.acquire();
        Thread.sleep(5);
        connections.release();
      }
    });
  }

  private static void ramp(String what, Handler.Task request) throws InterruptedException {
    var inTime = new AtomicIntegerArray(LOAD.length);
    long next = System.nanoTime();
    for (int i = 0; i < LOAD.length; i++) {
      int step = i;
      for (int client = 0; client < LOAD[step]; client++, next += 500_000_000 / LOAD[step]) {
        Thread.sleep(Duration.ofNanos(next - System.nanoTime()));
        Thread.startVirtualThread(() -> {
          long came = System.nanoTime();
          try {
            request.run();
            if (System.nanoTime() - came <= PATIENCE.toNanos()) inTime.incrementAndGet(step);
          } catch (Exception refusedOrLate) {}
        });
      }
    }
    Thread.sleep(PATIENCE); // for the last answers
    String became = inTime.get(3) > 45 ? "OK" : inTime.get(3) < 15 ? "COLLAPSED" : "SLOW";
    System.out.printf("%s: in time %s of 60, %s of 120, %s of 600, %s of 60: %s%n", what, inTime.get(0), inTime.get(1),
        inTime.get(2), inTime.get(3), became);
  }
}
