package io.fibry.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Calls a test method once for each seed. JUnit gets null for the parameter of type
 * {@link Simulation}; each run passes its own simulation instead.
 */
final class SimulationExtension implements InvocationInterceptor, ParameterResolver {

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == Simulation.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    return null;
  }

  @Override
  public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call,
      ExtensionContext test) {
    invocation.skip();
    var method = call.getExecutable();
    var annotation = method.getAnnotation(SimulatedTest.class);
    method.setAccessible(true);
    Simulation.run(options -> withSettings(options, annotation), simulation -> {
      var arguments = call.getArguments().toArray();
      for (int i = 0; i < arguments.length; i++)
        if (method.getParameterTypes()[i] == Simulation.class) arguments[i] = simulation;
      try {
        method.invoke(test.getRequiredTestInstance(), arguments);
      } catch (InvocationTargetException thrown) {
        throw thrown.getCause();
      }
    });
  }

  private static Simulation.Options withSettings(Simulation.Options options, SimulatedTest annotation) {
    var changed = options.withSeeds(annotation.seeds()).withPolicy(annotation.policy());
    return annotation.deadLetters() ? changed : changed.withoutDeadLetters();
  }
}
