package io.fibry.yieldpoint;

import io.fibry.simulation.Simulation;
import java.io.IOException;

/** Loads a program of a test and its nested classes a second time, with yield points. */
public final class YieldPointLoader extends ClassLoader {
  private final String program;

  private YieldPointLoader(Class<?> program) {
    super(program.getClassLoader());
    this.program = program.getName();
  }

  /** Creates a program of a public class with a public constructor without parameters. */
  public static Simulation.Program changed(Class<?> program) throws ReflectiveOperationException {
    return (Simulation.Program) new YieldPointLoader(program).loadClass(program.getName()).getConstructor()
        .newInstance();
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(program)) return super.loadClass(name, resolve);
    var loaded = findLoadedClass(name);
    if (loaded != null) return loaded;
    try (var file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      byte[] code = YieldPointInserter.of(file.readAllBytes());
      return defineClass(name, code, 0, code.length);
    } catch (IOException unreadable) {
      throw new ClassNotFoundException(name, unreadable);
    }
  }
}
