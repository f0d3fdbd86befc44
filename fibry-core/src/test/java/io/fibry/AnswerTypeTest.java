package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.engine.message.AnswerType;
import io.fibry.flow.Pipeline;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that returns its answers may return another than a request declares. */
class AnswerTypeTest {
  private final ActorScope scope = ActorSystem.openScope("answers");

  @AfterEach
  void close() {
    scope.close();
  }

  record Length(String text) implements Request<Length, Integer> {}

  interface Question<A> extends Request<Question<A>, A> {}

  record First(List<String> all) implements Question<Optional<String>> {}

  record Same<A>(A value) implements Question<A> {}

  abstract static class Swapped<A, Q> implements Request<Q, A> {}

  static final class Deep extends Swapped<Long, Deep> {}

  @SuppressWarnings("rawtypes")
  record Raw() implements Request {}

  @Test
  void declaredAnswerTypeIsFoundThroughInheritance() {
    assertEquals(Integer.class, AnswerType.of(new Length("")));
    assertEquals(Optional.class, AnswerType.of(new First(List.of())));
    assertEquals(Long.class, AnswerType.of(new Deep()));
    assertEquals(Object.class, AnswerType.of(new Same<>(1))); // any
    assertEquals(Object.class, AnswerType.of(new Raw()));
    Request<Length, Integer> lambda = new Request<>() {};
    assertEquals(Integer.class, AnswerType.of(lambda));
  }

  @Promise("4.15")
  @Test
  void answerOfUndeclaredTypeFailsAskWithClassCastException() {
    var actor = scope.named("confused").newActorWithReturn((Length length) -> "five");
    Actor<Length> byProtocol = actor;

    for (var thrown : List.of(assertThrows(ClassCastException.class, () -> byProtocol.ask(new Length("hello"))),
        assertThrows(ClassCastException.class, () -> byProtocol.ask(new Length("hello"), Patience.LONG)),
        Patience.failure(byProtocol.sendMessageReturn(new Length("hello"))),
        Patience.failure(byProtocol.sendMessageReturn(new Length("hello"), Patience.LONG))))
      assertEquals("actor 'confused' answered a java.lang.String to Length[text=hello], whose answer is a "
          + "java.lang.Integer; let its handler return that", thrown.getMessage());
  }

  @Promise("4.15")
  @Test
  void askerTypedByHandlerGetsHandlersAnswer() {
    var actor = scope.anonymous().newActorWithReturn((Length length) -> "five");

    assertEquals("five", actor.ask(new Length("hello")));
    assertEquals("five", Patience.value(actor.sendMessageReturn(new Length("hello"))));
  }

  /** Blocks hand requests on as mere messages, and answer something of their own. */
  @Test
  void pipelineAcceptsRequestsAsPlainMessages() {
    var seen = new CopyOnWriteArrayList<Length>();
    var lengths = Pipeline.of(scope.anonymous(), (Length length) -> length).then(3, length -> length)
        .into(seen::add);
    var all = List.of(new Length("a"), new Length("bb"), new Length("ccc"));
    for (var length : all) lengths.sendMessage(length);

    Patience.eventually(() -> seen.size() == 3);
    lengths.close();
  }

  @Test
  void answerOfUndeclaredTypeFailsInlineRequest() {
    Actor<Length> inner = scope.anonymous().inlineRequests().newActorWithReturn((Length length) -> "five");
    var outer = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String text) -> inner.ask(new Length(text)));

    assertThrows(ClassCastException.class, () -> outer.ask("hello"));
  }

  @Test
  void answerOfDeclaredTypeIsAccepted() {
    Actor<Length> actor = scope.anonymous().newActorWithReturn((Length length) -> length.text().length());
    Actor<Question<?>> any = scope.anonymous().newActorWithReturn(
        (Question<?> question) -> question instanceof First first ? first.all().stream().findFirst() : "any");

    assertEquals(5, actor.ask(new Length("hello")));
    assertEquals(Optional.of("a"), any.ask(new First(List.of("a", "b"))));
    assertEquals("any", any.ask(new Same<>("b")));
  }
}
