package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.Generator;
import java.io.IOException;

/** Sequences that an actor produces while they are read. The producer runs ahead up to a limit. */
class Generators {
  public static void main(String[] args) {
    Generator<Long> fibonacci = Generator.of(ActorSystem.named("fibonacci"), 100, out -> {
      try {
        for (long a = 0, b = 1;; b += a, a = b - a) out.yield(a);
      } finally {
        System.out.println("the producer has ended");
      }
    });
    try (var numbers = fibonacci.stream()) {
      System.out.println("the first ten: " + numbers.limit(10).toList());
    } // closing the stream ends the producer

    // a failure reaches the reader, so it needs no log
    var builder = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog());
    Generator<String> lines = Generator.of(builder, 10, out -> {
      out.yield("one line");
      out.yield("another line");
      throw new IOException("the disk is gone");
    });
    try {
      for (var line : lines) System.out.println(line);
    } catch (Exception failure) { // the producer's own exception; the reader gets it after both lines
      System.out.println(failure);
    }
  }
}
