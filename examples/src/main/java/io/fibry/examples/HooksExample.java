package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CountDownLatch;

/**
 * Hooks before, after and on errors of a function, inline or each on a fiber. On fibers, 100,000
 * hooks of one second each take a few seconds in all.
 */
class HooksExample {
  public static void main(String[] args) throws Exception {
    var half = Stereotypes.fibers().hooks(HooksExample::half)
        .before(n -> System.out.println("before " + n))
        .after((n, reply) -> System.out.println("after " + n + ": " + reply))
        .onError((n, failure) -> System.out.println("on the error of " + n + ": " + failure.getMessage()));
    System.out.println("half of 8 is " + half.handle(8));
    try {
      half.handle(7);
    } catch (IllegalArgumentException refused) {
      System.out.println("no half: " + refused.getMessage()); // the function's own exception
    }

    int calls = args.length == 0 ? 100_000 : Integer.parseInt(args[0]);
    var done = new CountDownLatch(calls);
    // the caller does not wait for the hook
    var withSlowHook = Stereotypes.fibers().hooks(HooksExample::half).afterAsync((n, reply) -> {
      Thread.sleep(1_000);
      done.countDown();
    });
    var actor = ActorSystem.anonymous().newActorWithReturn(withSlowHook);
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) actor.ask(2 * i);
    System.out.println(calls + " calls with a hook of a second each: answered after "
        + (System.nanoTime() - start) / 1_000_000 + " ms");
    done.await();
    System.out.println("all hooks done: " + (System.nanoTime() - start) / 1_000_000 + " ms");
  }

  private static int half(int n) {
    if (n % 2 != 0) throw new IllegalArgumentException(n + " is odd");
    return n / 2;
  }
}
