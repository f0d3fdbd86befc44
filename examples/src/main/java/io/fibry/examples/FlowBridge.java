package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.flow.FlowBridges;
import io.fibry.flow.Generator;
import java.util.concurrent.SubmissionPublisher;

/** Actors at both ends of a java.util.concurrent.Flow: as a subscriber, and as a publisher. */
class FlowBridge {
  public static void main(String[] args) {
    var printer = ActorSystem.named("printer").newActor((String line) -> System.out.println(line));
    try (var lines = new SubmissionPublisher<String>()) {
      lines.subscribe(FlowBridges.subscriber(printer, 64)); // at most 64 unhandled lines
      lines.submit("hello");
      lines.submit("world");
    }
    printer.waitForExit(); // the end of the stream sends the printer a poison pill

    Generator<Integer> squares = Generator.of(ActorSystem.anonymous(), 10, out -> {
      for (int i = 1; i <= 3; i++) out.yield(i * i);
    });
    var reader = ActorSystem.named("reader").newActor((Integer square) -> System.out.println(square));
    FlowBridges.publisher(squares).subscribe(FlowBridges.subscriber(reader, 1));
    reader.waitForExit();
  }
}
