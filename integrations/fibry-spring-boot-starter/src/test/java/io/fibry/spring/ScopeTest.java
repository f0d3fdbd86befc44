package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.ContextPropagator;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests the scope of an application, and the properties that configure it. */
class ScopeTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class));

  @Test
  void contextHasScopeBeanByDefault() {
    runner.run(context -> assertEquals("application", context.getBean(ActorScope.class).name()));
  }

  @Test
  void scopeIsNamedAfterApplication() {
    runner.withPropertyValues("spring.application.name=shop")
        .run(context -> assertEquals("shop", context.getBean(ActorScope.class).name()));
  }

  @Test
  void scopeIsNamedByProperty() {
    runner.withPropertyValues("spring.application.name=shop", "fibry.name=till")
        .run(context -> assertEquals("till", context.getBean(ActorScope.class).name()));
  }

  @Test
  void propertyDisablesScopeBean() {
    runner.withPropertyValues("fibry.enabled=false")
        .run(context -> assertTrue(context.getBeansOfType(ActorScope.class).isEmpty()));
  }

  @Test
  void ownScopeBeanReplacesDefaultScope() {
    try (var ownScope = ActorSystem.openScope("own")) {
      runner.withBean("own", ActorScope.class, () -> ownScope)
          .run(context -> assertSame(ownScope, context.getBean(ActorScope.class)));
    }
  }

  @Test
  void actorsRunOnFibersByDefault() {
    runner.run(context -> assertTrue(isOnFiber(context.getBean(ActorScope.class))));
  }

  @Test
  void propertySetsStrategy() {
    runner.withPropertyValues("fibry.strategy=thread")
        .run(context -> assertFalse(isOnFiber(context.getBean(ActorScope.class))));
    runner.withPropertyValues("fibry.strategy=resident-fiber")
        .run(context -> assertTrue(isOnFiber(context.getBean(ActorScope.class))));
    runner.withPropertyValues("fibry.strategy=caller").run(context -> {
      var caller = Thread.currentThread();

      assertSame(caller, context.getBean(ActorScope.class).anonymous()
          .newActorWithReturn((String message) -> Thread.currentThread()).ask("where?"));
    });
  }

  private static boolean isOnFiber(ActorScope scope) {
    return scope.anonymous().newActorWithReturn((String message) -> Thread.currentThread().isVirtual()).ask("where?");
  }

  @Test
  void propertiesSetMailbox() {
    runner.withPropertyValues("fibry.mailbox.capacity=2", "fibry.mailbox.overflow=reject").run(context -> {
      var gate = new Gate();
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((Integer n) -> {
        gate.pass();
        return n;
      });
      actor.sendMessage(0);
      gate.awaitEntered();
      actor.sendMessage(1);
      actor.sendMessage(2);

      var refusal = assertThrows(MailboxFullException.class, () -> actor.ask(3));

      gate.open();
      assertEquals(2, refusal.capacity());
    });
  }

  @Test
  void springPropertyHidesMessageContents() {
    runner.run(context -> assertTrue(optionsOf(context.getBean(ActorScope.class)).mayShowMessageContents()));
    runner.withPropertyValues("fibry.message-contents=false")
        .run(context -> assertFalse(optionsOf(context.getBean(ActorScope.class)).mayShowMessageContents()));
  }

  private static ActorScope.Options optionsOf(ActorScope scope) {
    var result = new AtomicReference<ActorScope.Options>();
    scope.openScope("inside", options -> {
      result.set(options);
      return options;
    }).close();
    return result.get();
  }

  @Test
  void propertySetsAskLimit() {
    runner.withPropertyValues("fibry.ask-limit=50ms").run(context -> {
      var gate = new Gate();
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((Integer n) -> {
        gate.pass();
        return n;
      });

      var timeout = assertThrows(AskTimeoutException.class, () -> actor.ask(1));

      gate.open();
      assertEquals(Duration.ofMillis(50), timeout.limit());
    });
  }

  @Test
  void invalidPropertyFailsStart() {
    runner.withPropertyValues("fibry.strategy=fibre")
        .run(context -> assertInstanceOf(BindException.class, bindExceptionOf(context.getStartupFailure())));
    runner.withPropertyValues("fibry.ask-limit=0s")
        .run(
            context -> assertTrue(rootCause(context.getStartupFailure()).getMessage().contains("give more than zero")));
  }

  private static Throwable bindExceptionOf(Throwable failure) {
    while (failure != null && !(failure instanceof BindException)) failure = failure.getCause();
    return failure;
  }

  static Throwable rootCause(Throwable failure) {
    while (failure.getCause() != null) failure = failure.getCause();
    return failure;
  }

  @Test
  void customizersOverrideProperties() {
    var letters = new CopyOnWriteArrayList<DeadLetter>();
    runner.withPropertyValues("fibry.strategy=thread").withBean(ScopeCustomizer.class,
        () -> options -> options.withStrategy(Strategy.FIBER).withDeadLetterListener(letters::add)).run(context -> {
          var scope = context.getBean(ActorScope.class);
          scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
            throw new IllegalStateException("on purpose");
          }).sendMessage("letter");
          assertTrue(scope.awaitQuiescence(Patience.LONG));

          assertTrue(isOnFiber(scope));
          assertEquals(List.of("letter"), letters.stream().map(DeadLetter::message).toList());
        });
  }

  @Test
  void contextPropagatorBeanIsUsedForMessages() {
    var user = new ThreadLocal<String>();
    runner.withBean(UserPropagator.class, () -> new UserPropagator(user)).run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous()
          .newActorWithReturn((String message) -> user.get() + " " + message);
      user.set("alice");

      assertEquals("alice asks", actor.ask("asks"));
    });
  }

  private record UserPropagator(ThreadLocal<String> user) implements ContextPropagator<String> {
    @Override
    public String capture() {
      return user.get();
    }

    @Override
    public AutoCloseable restore(String captured) {
      user.set(captured);
      return user::remove;
    }
  }
}
