package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionValidationException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

/** Tests that each handler bean gets an actor, which is a bean, too. */
class ActorHandlerTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class));

  // ---- valid handlers

  sealed interface Account {}

  record Deposit(long cents) implements Account {}

  record Balance() implements Account, Request<Balance, Long> {}

  @ActorHandler("account")
  static class Bank implements Handler.WithContext<Account> {
    private long cents;

    @Override
    public void handle(Account message, ActorContext<Account> context) {
      switch (message) {
        case Deposit deposit -> cents += deposit.cents();
        case Balance balance -> context.reply(balance, cents);
      }
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Functions {
    private final StringBuffer log = new StringBuffer();

    @Bean
    @ActorHandler
    Handler<String> teller() {
      return log::append;
    }

    @Bean
    @ActorHandler
    Handler.Returning<Integer, Integer> square() {
      return n -> n * n;
    }

    @Bean
    @ActorHandler
    Handler.Returning<String, Integer> length() {
      return String::length;
    }

    @Bean
    @ActorHandler
    Handler.ReturningWithContext<Long, String> self() {
      return (n, context) -> context.self().name() + n;
    }
  }

  record Client(Actor<Account> account, Actor<String> tellerActor, ActorWithReturn<Integer, Integer> square,
      ActorWithReturn<String, Integer> length, ActorWithReturn<Long, String> self) {}

  @Test
  void actorsAreInjectedByMessageType() {
    runner.withUserConfiguration(Bank.class, Functions.class, Client.class).run(context -> {
      var client = context.getBean(Client.class);

      client.account().sendMessage(new Deposit(500));

      assertEquals(500, client.account().ask(new Balance()));
      assertEquals(9, client.square().ask(3));
      assertEquals(3, client.length().ask("hat"));
      assertEquals("self1", client.self().ask(1L));
      client.tellerActor().sendMessage("hello");
      client.tellerActor().close();
      assertEquals("hello", context.getBean(Functions.class).log.toString());
    });
  }

  @Test
  void actorIsFoundInScopeByName() {
    runner.withUserConfiguration(Bank.class)
        .run(context -> assertTrue(context.getBean(ActorScope.class).find("account", Account.class).isPresent()));
  }

  @Test
  void actorIsNamedAfterBeanByDefault() {
    runner.withUserConfiguration(Functions.class)
        .run(context -> assertEquals("square", context.getBean("squareActor", Actor.class).name()));
  }

  @Configuration(proxyBeanMethods = false)
  static class BoundedHandler {
    private final Gate gate = new Gate();

    @Bean
    @ActorHandler(capacity = 1)
    Handler.Returning<Integer, Integer> slow() {
      return n -> {
        gate.pass();
        return n;
      };
    }
  }

  @Test
  void annotationSetsMailboxCapacity() {
    runner.withUserConfiguration(BoundedHandler.class).run(context -> {
      var gate = context.getBean(BoundedHandler.class).gate;
      @SuppressWarnings("unchecked") // the return type of the handler bean
      var actor = (ActorWithReturn<Integer, Integer>) context.getBean("slowActor", ActorWithReturn.class);
      actor.sendMessage(1);
      gate.awaitEntered();
      actor.sendMessage(2);

      assertThrows(MailboxFullException.class, () -> actor.ask(3));
      gate.open();
    });
  }

  @ActorHandler
  static class Division implements Handler.Returning<Integer, Integer> {
    @Override
    public Integer handle(Integer divisor) {
      return 12 / divisor;
    }
  }

  record Fraction(ActorWithReturn<Integer, Integer> division) {}

  @Test
  void handlerExceptionReachesOnlyItsAsker() {
    runner.withUserConfiguration(Division.class, Fraction.class).run(context -> {
      var division = context.getBean(Fraction.class).division();

      assertThrows(ArithmeticException.class, () -> division.ask(0));
      assertEquals(4, division.ask(3));
    });
  }

  @Test
  void noActorBeansExistWithoutScope() {
    runner.withPropertyValues("fibry.enabled=false").withUserConfiguration(Bank.class)
        .run(context -> assertEquals(0, context.getBeanNamesForType(Actor.class).length));
  }

  // ---- invalid handlers

  @ActorHandler
  static class NoHandler {}

  @Test
  void beanThatIsNoHandlerFailsStart() {
    assertRefused(NoHandler.class, "handles no messages; implement Handler<M>");
  }

  @ActorHandler
  static class TwoHandlers implements Handler<String>, Handler.WithContext<String> {
    @Override
    public void handle(String message) {}

    @Override
    public void handle(String message, ActorContext<String> context) {}
  }

  @Test
  void beanWithTwoHandlerTypesFailsStart() {
    assertRefused(TwoHandlers.class, "implements 2 kinds of handlers ([Handler, WithContext]); implement one of them");
  }

  @Configuration(proxyBeanMethods = false)
  static class Untyped {
    @Bean
    @ActorHandler
    Handler<?> unknown() {
      return message -> {};
    }
  }

  @Test
  void handlerWithUnknownMessageTypeFailsStart() {
    assertRefused(Untyped.class, "bean 'unknown' is marked @ActorHandler", "does not declare the type of its messages");
  }

  @ActorHandler
  @Scope("prototype")
  static class PrototypeHandler implements Handler<String> {
    @Override
    public void handle(String message) {}
  }

  @Test
  void handlerOfPrototypeScopeFailsStart() {
    assertRefused(PrototypeHandler.class, "is not a singleton, so its one actor would have several handlers");
  }

  private void assertRefused(Class<?> configuration, String... texts) {
    runner.withUserConfiguration(configuration).run(context -> {
      var failure = assertInstanceOf(BeanDefinitionValidationException.class, context.getStartupFailure());

      for (var text : texts) assertTrue(failure.getMessage().contains(text), failure::getMessage);
    });
  }
}
