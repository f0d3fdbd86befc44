package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.flow.RateLimit;
import java.time.Duration;
import java.util.List;

/**
 * Three messages in 300 ms: a burst, then one every 100 ms. All actors of a builder share the
 * limit.
 */
class RateLimitExample {
  private static final Duration PERIOD = Duration.ofMillis(300);

  public static void main(String[] args) {
    long began = System.nanoTime();
    var mailer = RateLimit.around(ActorSystem.named("mailer"), 3, PERIOD)
        .newActor((String mail) -> System.out.println(mail + " after " + millisSince(began)));
    for (int i = 1; i <= 6; i++) mailer.sendMessage("mail " + i);
    mailer.close();

    long again = System.nanoTime();
    var how = RateLimit.around(ActorSystem.anonymous(), 3, PERIOD);
    var workers =
        List.of(how.newActor(RateLimitExample::work), how.newActor(RateLimitExample::work),
            how.newActor(RateLimitExample::work));
    for (int job = 0; job < 9; job++) workers.get(job % 3).sendMessage(job);
    workers.forEach(worker -> worker.close());
    System.out.println("nine jobs of three workers after " + millisSince(again));
  }

  private static void work(int job) {}

  private static String millisSince(long began) {
    return (System.nanoTime() - began) / 1_000_000 + " ms";
  }
}
