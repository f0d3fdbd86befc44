package io.fibry.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Calls a test once for each seed. The parameter is null for JUnit, and filled in each run. */
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
    var how = method.getAnnotation(SimulatedTest.class);
    method.setAccessible(true);
    Simulation.run(options -> changed(options, how), simulation -> {
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

  private static Simulation.Options changed(Simulation.Options options, SimulatedTest how) {
    var changed = options.withSeeds(how.seeds()).withPolicy(how.policy());
    return how.deadLetters() ? changed : changed.withoutDeadLetters();
  }
}
