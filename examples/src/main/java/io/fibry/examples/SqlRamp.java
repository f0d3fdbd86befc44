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
 * excess requests keeps serving. A server that accepts all requests is late for all clients, and
 * works for clients that have left.
 */
class SqlRamp {
  private static final Duration PATIENCE = Duration.ofMillis(250); // of a client
  private static final int[] LOAD = {60, 120, 600, 60}; // clients in each half second; about 130 can be served

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

  private static void ramp(String label, Handler.Task request) throws InterruptedException {
    var inTime = new AtomicIntegerArray(LOAD.length);
    long nextArrival = System.nanoTime();
    for (int i = 0; i < LOAD.length; i++) {
      int phase = i;
      for (int client = 0; client < LOAD[phase]; client++, nextArrival += 500_000_000 / LOAD[phase]) {
        Thread.sleep(Duration.ofNanos(nextArrival - System.nanoTime()));
        Thread.startVirtualThread(() -> {
          long start = System.nanoTime();
          try {
            request.run();
            if (System.nanoTime() - start <= PATIENCE.toNanos()) inTime.incrementAndGet(phase);
          } catch (Exception refusedOrLate) {}
        });
      }
    }
    Thread.sleep(PATIENCE); // for the last answers
    String verdict = inTime.get(3) > 45 ? "OK" : inTime.get(3) < 15 ? "COLLAPSED" : "SLOW";
    System.out.printf("%s: in time %s of 60, %s of 120, %s of 600, %s of 60: %s%n", label, inTime.get(0), inTime.get(1),
        inTime.get(2), inTime.get(3), verdict);
  }
}
