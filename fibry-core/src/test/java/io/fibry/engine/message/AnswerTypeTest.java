package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.flow.Pipeline;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests handlers whose answer has another type than the request declares. */
class AnswerTypeTest {
  private final ActorScope scope = ActorSystem.openScope("answers");

  @AfterEach
  void close() {
    scope.close();
  }

  record Length(String text) implements Request<Length, Integer> {}

  interface Question<A> extends Request<Question<A>, A> {}

  record FirstText(List<String> texts) implements Question<Optional<String>> {}

  record SameValue<A>(A value) implements Question<A> {}

  abstract static class SwappedParameters<A, Q> implements Request<Q, A> {}

  static final class IndirectRequest extends SwappedParameters<Long, IndirectRequest> {}

  @SuppressWarnings("rawtypes")
  record RawRequest() implements Request {}

  @Test
  void declaredAnswerTypeIsFoundThroughInheritance() {
    assertEquals(Integer.class, AnswerType.of(new Length("")));
    assertEquals(Optional.class, AnswerType.of(new FirstText(List.of())));
    assertEquals(Long.class, AnswerType.of(new IndirectRequest()));
    assertEquals(Object.class, AnswerType.of(new SameValue<>(1))); // Object.class stands for any type
    assertEquals(Object.class, AnswerType.of(new RawRequest()));
    Request<Length, Integer> request = new Request<>() {};
    assertEquals(Integer.class, AnswerType.of(request));
  }

  @Promise("4.15")
  @Test
  void requestThroughActorFailsIfAnswerHasUndeclaredType() {
    var actor = scope.named("confused").newActorWithReturn((Length length) -> "five");
    Actor<Length> protocolActor = actor;

    for (var thrown : List.of(assertThrows(ClassCastException.class, () -> protocolActor.ask(new Length("hello"))),
        assertThrows(ClassCastException.class, () -> protocolActor.ask(new Length("hello"), Patience.LONG)),
        Patience.failure(protocolActor.sendMessageReturn(new Length("hello"))),
        Patience.failure(protocolActor.sendMessageReturn(new Length("hello"), Patience.LONG))))
      assertEquals("actor 'confused' answered a java.lang.String to Length[text=hello], whose answer is a "
          + "java.lang.Integer; let its handler return such an object", thrown.getMessage());
  }

  @Promise("4.15")
  @Test
  void requestThroughActorWithReturnAcceptsUndeclaredAnswerType() {
    var actor = scope.anonymous().newActorWithReturn((Length length) -> "five");

    assertEquals("five", actor.ask(new Length("hello")));
    assertEquals("five", Patience.value(actor.sendMessageReturn(new Length("hello"))));
  }

  /**
   * A pipeline passes requests from stage to stage as plain messages. So a stage may return another
   * type than the request declares.
   */
  @Test
  void pipelineStagesPassRequestsOnAsPlainMessages() {
    var received = new CopyOnWriteArrayList<Length>();
    var pipeline = Pipeline.of(scope.anonymous(), (Length request) -> request).then(3, request -> request)
        .into(received::add);
    var requests = List.of(new Length("a"), new Length("bb"), new Length("ccc"));
    for (var request : requests) pipeline.sendMessage(request);

    Patience.eventually(() -> received.size() == 3);
    pipeline.close();
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
    Actor<Question<?>> questionActor = scope.anonymous().newActorWithReturn(
        (Question<?> question) -> question instanceof FirstText first ? first.texts().stream().findFirst() : "any");

    assertEquals(5, actor.ask(new Length("hello")));
    assertEquals(Optional.of("a"), questionActor.ask(new FirstText(List.of("a", "b"))));
    assertEquals("any", questionActor.ask(new SameValue<>("b")));
  }
}
