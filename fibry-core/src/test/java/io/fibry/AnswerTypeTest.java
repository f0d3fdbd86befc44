package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.engine.message.AnswerType;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that returns its answers cannot give a request another answer than it declares. */
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
  void theDeclaredAnswerIsFoundHoweverItIsInherited() {
    assertEquals(Integer.class, AnswerType.of(Length.class));
    assertEquals(Optional.class, AnswerType.of(First.class));
    assertEquals(Long.class, AnswerType.of(Deep.class));
    assertEquals(Object.class, AnswerType.of(Same.class)); // any
    assertEquals(Object.class, AnswerType.of(Raw.class));
    Request<Length, Integer> lambda = new Request<>() {};
    assertEquals(Integer.class, AnswerType.of(lambda.getClass()));
  }

  @Promise("4.15")
  @Test
  void anAnswerOfAnotherTypeIsAFailureForBothWhoAskForIt() {
    var actor = scope.named("confused").onFailure(FailurePolicy.goOn().withoutLog())
        .newActorWithReturn((Length length) -> "five");
    Actor<Length> byProtocol = actor;

    for (var thrown : List.of(assertThrows(ClassCastException.class, () -> actor.ask(new Length("hello"))),
        assertThrows(ClassCastException.class, () -> byProtocol.ask(new Length("hello"))),
        Patience.failure(actor.sendMessageReturn(new Length("hello")))))
      assertEquals("actor 'confused' answered a java.lang.String to Length[text=hello], whose answer is a "
          + "java.lang.Integer; let its handler return that", thrown.getMessage());
  }

  @Test
  void onAFiberOfItsAskerToo() {
    var inner = scope.anonymous().inlineRequests().onFailure(FailurePolicy.goOn().withoutLog())
        .newActorWithReturn((Length length) -> "five");
    var outer = scope.anonymous().newActorWithReturn((String text) -> inner.ask(new Length(text)));

    assertThrows(ClassCastException.class, () -> outer.ask("hello"));
  }

  @Test
  void theDeclaredAnswerIsTaken() {
    Actor<Length> actor = scope.anonymous().newActorWithReturn((Length length) -> length.text().length());
    Actor<Question<?>> any = scope.anonymous().newActorWithReturn(
        (Question<?> question) -> question instanceof First first ? first.all().stream().findFirst() : "any");

    assertEquals(5, actor.ask(new Length("hello")));
    assertEquals(Optional.of("a"), any.ask(new First(List.of("a", "b"))));
    assertEquals("any", any.ask(new Same<>("b")));
  }
}
