package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.flow.RateLimit;
import java.time.Duration;
import java.util.List;

/**
 * A burst of three messages, then one message every 100 ms. All actors of a builder share this
 * limit.
 */
class RateLimitExample {
  private static final Duration PERIOD = Duration.ofMillis(300);

  public static void main(String[] args) {
    long start = System.nanoTime();
    var mailer = RateLimit.around(ActorSystem.named("mailer"), 3, PERIOD)
        .newActor((String mail) -> System.out.println(mail + " after " + millisSince(start)));
    for (int i = 1; i <= 6; i++) mailer.sendMessage("mail " + i);
    mailer.close();

    long secondStart = System.nanoTime();
    var builder = RateLimit.around(ActorSystem.anonymous(), 3, PERIOD);
    var workers =
        List.of(builder.newActor(RateLimitExample::work), builder.newActor(RateLimitExample::work),
            builder.newActor(RateLimitExample::work));
    for (int job = 0; job < 9; job++) workers.get(job % 3).sendMessage(job);
    workers.forEach(worker -> worker.close());
    System.out.println("nine jobs of three workers after " + millisSince(secondStart));
  }

  private static void work(int job) {}

  private static String millisSince(long start) {
    return (System.nanoTime() - start) / 1_000_000 + " ms";
  }
}
