package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AnswerObserverTest {
  private record Report(boolean isPromised) implements Request<Report, List<String>> {}

  /** Records the text that each answer has when it is observed. */
  private static final class Texts extends AnswerObserver {
    private final List<String> texts = new CopyOnWriteArrayList<>();

    @Override
    public void onAnswer(Object answer) {
      texts.add(answer.toString());
    }
  }

  private enum Receiver {
    ACTOR(test -> test.scope.anonymous().newActor(test::handle)),
    BOUNDED(test -> test.scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor(test::handle)),
    POOL(test -> Pools.fixed(test.scope.anonymous(), 2).newActor(test::handle)),
    ENTITY(test -> Entities.<Object, Report, Object>open(test.scope.anonymous(), Duration.ofHours(1),
        (builder, key) -> builder.newActor(test::handle)).actor("key"));

    private final Function<AnswerObserverTest, Actor<Report>> creation;

    Receiver(Function<AnswerObserverTest, Actor<Report>> creation) {
      this.creation = creation;
    }
  }

  private final ActorScope scope = ActorSystem.openScope("answer-observer-test");
  private final CountDownLatch isChanged = new CountDownLatch(1);
  private final CompletableFuture<List<String>> promise = new CompletableFuture<>();

  @AfterEach
  void close() {
    scope.close();
  }

  private void handle(Report report, ActorContext<Report> context) {
    var lines = new ArrayList<>(List.of("line"));
    if (report.isPromised) context.replyWhen(report, promise);
    else context.reply(report, lines);
    lines.add("added after the reply");
    isChanged.countDown();
  }

  @ParameterizedTest
  @EnumSource
  void observerGetsAnswerBeforeHandlerContinues(Receiver receiver) {
    var observer = new Texts();
    var request = new Report(false);

    var answer = observer.send(request, () -> receiver.creation.apply(this).sendMessageReturn(request));

    Patience.await(isChanged);
    assertEquals(List.of("line", "added after the reply"), Patience.value(answer));
    assertEquals(List.of("[line]"), observer.texts);
  }

  @Test
  void observerGetsPromisedAnswer() {
    var observer = new Texts();
    var request = new Report(true);
    var answer = observer.send(request, () -> Receiver.ACTOR.creation.apply(this).sendMessageReturn(request));
    Patience.await(isChanged);

    promise.complete(List.of("later"));

    assertEquals(List.of("later"), Patience.value(answer));
    assertEquals(List.of("[later]"), observer.texts);
  }

  @Test
  void requestsThatAreSentBesideObservedRequestHaveNoObserver() {
    var observer = new Texts();
    var actor = Receiver.ACTOR.creation.apply(this);

    var answer = observer.send(new Report(false), () -> actor.sendMessageReturn(new Report(false)));

    assertEquals("line", Patience.value(answer).getFirst());
    assertEquals(List.of(), observer.texts);
  }
}
