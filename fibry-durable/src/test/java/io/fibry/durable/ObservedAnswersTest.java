package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.spi.AnswerObserver;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that an observer gets an answer at the reply, before the turn is stored. */
class ObservedAnswersTest extends StoreFixture {
  record Report(boolean isPromised) implements Request<Report, List<String>> {}

  private final List<String> observedTexts = new CopyOnWriteArrayList<>();
  private final AnswerObserver observer = new AnswerObserver() {
    @Override
    public void onAnswer(Object answer) {
      observedTexts.add(answer.toString());
    }
  };

  ObservedAnswersTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  private Actor<Report> newActor(boolean storesMessages) {
    var kind = Durable.kind("reports", Report.class);
    return (storesMessages ? kind.storeMessages(9) : kind).state(0L).handler((count, report, context) -> {
      var lines = new ArrayList<>(List.of("line"));
      if (report.isPromised) context.replyWhen(report, CompletableFuture.completedFuture(lines));
      else context.reply(report, lines);
      lines.add("added after the reply");
      return count + 1;
    }).newActor(scope.named("ada"), store);
  }

  private void check(boolean storesMessages, Report report) {
    var actor = newActor(storesMessages);

    var answer = observer.send(report, () -> actor.sendMessageReturn(report));

    assertEquals(List.of("line", "added after the reply"), Patience.value(answer));
    assertEquals("[line]", observedTexts.getFirst());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void observerGetsAnswerBeforeHandlerContinues(boolean storesMessages) {
    check(storesMessages, new Report(false));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void observerGetsPromisedAnswerWhenPromiseIsKept(boolean storesMessages) {
    check(storesMessages, new Report(true));
  }
}
