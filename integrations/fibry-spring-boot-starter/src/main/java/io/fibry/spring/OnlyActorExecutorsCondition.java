package io.fibry.spring;

import io.fibry.Exitable;
import java.util.List;
import java.util.concurrent.Executor;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if there is at least one executor bean, all executor beans are actors or sinks, and
 * {@code spring.task.execution.mode} is not {@code force}.
 */
final class OnlyActorExecutorsCondition extends SpringBootCondition implements ConfigurationCondition {
  private static final ConditionMessage.Builder MESSAGE = ConditionMessage.forCondition("only actors are executors");

  @Override
  public ConfigurationPhase getConfigurationPhase() {
    return ConfigurationPhase.REGISTER_BEAN;
  }

  @Override
  public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
    var beans = context.getBeanFactory();
    if (beans == null) return ConditionOutcome.noMatch(MESSAGE.because("there is no bean factory"));
    if ("force".equals(context.getEnvironment().getProperty("spring.task.execution.mode")))
      return ConditionOutcome.noMatch(MESSAGE.because("spring.task.execution.mode is force"));
    var executors = List.of(beans.getBeanNamesForType(Executor.class, true, false));
    for (var name : executors) {
      var type = beans.getType(name, false);
      if (type == null || !Exitable.class.isAssignableFrom(type))
        return ConditionOutcome.noMatch(MESSAGE.because("bean '" + name + "' is not an actor"));
    }
    return executors.isEmpty() ? ConditionOutcome.noMatch(MESSAGE.because("there are no executors"))
        : ConditionOutcome.match(MESSAGE.because("all of " + executors + " are actors"));
  }
}
