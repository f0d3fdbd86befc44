package io.fibry.pubsub;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;

/** A scope for topics, and the messages that their subscribers received. */
abstract class TopicFixture {
  final RecordedLetters letters = new RecordedLetters();
  final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(50)));
  final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }
}
