package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.NoReplyException;
import io.fibry.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ProbeTest {
  sealed interface Mail {}

  record Letter(String to) implements Mail {}

  record Count() implements Mail, Request<Count, Integer> {}

  @RegisterExtension
  static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

  private static final Duration SHORT = Duration.ofMillis(20);

  private static String failureOf(Runnable expectation) {
    return assertThrows(AssertionError.class, expectation::run).getMessage();
  }

  /** Returns the failure of an expectation that waits in vain. The wait has a short limit. */
  private static String failureAfterWait(TestScope scope, Runnable expectation) {
    scope.limit = SHORT;
    try {
      return failureOf(expectation);
    } finally {
      scope.limit = TestScope.LIMIT;
    }
  }

  private static void assertContains(String part, String text) {
    assertTrue(text.contains(part), () -> "'" + part + "' is not in: " + text);
  }

  @Test
  void probeReturnsMessagesInOrder(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    post.actor().sendMessages(List.of(new Letter("Ada"), new Letter("Bob"), new Letter("Eve")));

    assertEquals(new Letter("Ada"), post.next());
    assertEquals(new Letter("Bob"), post.expect(new Letter("Bob")));
    assertEquals(new Letter("Eve"), post.expect("a letter", mail -> mail instanceof Letter));
    post.expectNothing();
    assertEquals(List.of(new Letter("Ada"), new Letter("Bob"), new Letter("Eve")), post.messages());
  }

  @Test
  void probeWaitsForLaterMessage(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    var gate = new CompletableFuture<Void>();
    var postman = scope.anonymous().newActor((String to) -> {
      gate.join();
      post.actor().sendMessage(new Letter(to));
    });
    postman.sendMessage("Ada");

    gate.completeAsync(() -> null);

    post.expect(new Letter("Ada"));
  }

  @Test
  void probeFailureNamesUnexpectedMessage(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    post.actor().sendMessage(new Letter("Bob"));

    var text = failureOf(() -> post.expect(new Letter("Ada")));

    assertContains(
        "probe 'post' wanted Letter[to=Ada] and got Letter[to=Bob]; all messages so far: [Letter[to=Bob]]; "
            + "the scope:\n",
        text);
    assertContains("post (FIBER)", text);
  }

  @Test
  void probeFailureNamesDurationOfWait(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");

    assertContains(
        "probe 'post' wanted Letter[to=Ada] and got nothing within " + TestScope.format(SHORT)
            + "; all messages so far: []",
        failureAfterWait(scope, () -> post.expect(new Letter("Ada"))));
    assertContains("wanted a message and got nothing within 1 ms",
        failureOf(() -> post.next(Duration.ofMillis(1))));
  }

  @Test
  void probeFailureDescribesExpectedMessage(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    post.actor().sendMessage(new Letter("Bob"));

    assertContains("wanted a count and got Letter[to=Bob]",
        failureOf(() -> post.expect("a count", mail -> mail instanceof Count)));
  }

  @Test
  void probeFailureNamesSurplusMessage(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    var postman = scope.anonymous().newActor((String to) -> post.actor().sendMessage(new Letter(to)));
    postman.sendMessage("Ada");

    assertContains("probe 'post' wanted nothing and got [Letter[to=Ada]]", failureOf(post::expectNothing));
  }

  @Test
  void expectNothingFailsWhileHandlerRuns(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    var gate = new CompletableFuture<Void>();
    scope.named("postman").newActor((String to) -> gate.join()).sendMessage("Ada");

    var text = failureAfterWait(scope, post::expectNothing);

    gate.complete(null);
    assertContains("probe 'post' cannot tell whether more messages come: the scope did not become quiet within "
        + TestScope.format(SHORT), text);
    assertContains("postman (FIBER)", text);
  }

  @Test
  void requestToProbeGetsDefinedAnswerOrFailure(TestScope scope) {
    Probe<Mail> post = Probe.<Mail>of(scope, "post").answer(Count.class, count -> 3);

    int answer = post.actor().ask(new Count());
    assertEquals(3, answer);

    post.answer(Count.class, count -> {
      throw new IOException("on strike");
    });
    assertEquals("on strike", assertThrows(IOException.class, () -> post.actor().ask(new Count())).getMessage());
    assertEquals(List.of(new Count(), new Count()), post.messages());
  }

  @Test
  void requestWithoutDefinedAnswerFails(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");

    assertThrows(NoReplyException.class, () -> post.actor().ask(new Count()));
  }

  @Test
  void probeRecordsRequestSentAsPlainMessage(TestScope scope) {
    Probe<Mail> post = Probe.<Mail>of(scope, "post").answer(Count.class, count -> 3);

    post.actor().sendMessage(new Count());

    post.expect(new Count());
    scope.assertNoDeadLetters();
  }

  @Test
  void probeRecordsMessagesOfActorThatItObserves(TestScope scope) {
    Probe<String> words = Probe.of(scope, "words");
    var length =
        words.recordedBy(scope.anonymous().protocol(String.class)).newActorWithReturn((String word) -> word.length());

    int answer = length.ask("actor");
    assertEquals(5, answer);

    words.expect("actor");
  }

  @Test
  void interruptedProbeWaitIsCancelledAndKeepsInterruptFlag(TestScope scope) {
    Probe<Mail> post = Probe.of(scope, "post");
    Thread.currentThread().interrupt();

    var failure = assertThrows(CancellationException.class, post::next);

    assertTrue(Thread.interrupted());
    assertContains("probe 'post' waited for a message", failure.getMessage());
  }
}
