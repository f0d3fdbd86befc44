package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Rules for the structure of a module, checked in its compiled classes. A subclass in the tests of
 * the module describes the intended structure, and gives a reason for each exception.
 */
public abstract class ArchitectureRules {
  private static final Path MAIN_FOLDER = Path.of("target/classes");
  /** The classes of the module and of its tests, imported together because importing takes long. */
  private static final JavaClasses MAIN_AND_TESTS =
      new ClassFileImporter().importPaths(MAIN_FOLDER, Path.of("target/test-classes"));
  /** The compiled classes of the module whose tests run. */
  public static final JavaClasses MAIN = MAIN_AND_TESTS.that(DescribedPredicate.describe("are main code",
      type -> Path.of(type.getSource().orElseThrow().getUri()).startsWith(MAIN_FOLDER.toAbsolutePath())));
  /** The usual reason of an exempt dependency. */
  protected static final String FACTORY = "a public type, and the implementation that its factory method creates";

  private static final int MAX_FILES = 25; // in a package
  private static final String MODULE = Path.of("").toAbsolutePath().getFileName().toString();

  /**
   * The layers, lowest first. A layer consists of packages. It may also list the full name of a
   * type, which then does not belong to the layer of its package. A type may depend on its own
   * package and on lower layers. A module whose only package is the package of its test need not
   * override this method.
   */
  protected List<Set<String>> layers() {
    return List.of(Set.of(getClass().getPackageName()));
  }

  /** The exported packages with their public top-level types. */
  protected abstract Map<String, Set<String>> publicTypes();

  /**
   * The dependencies to which the rules for layers and cycles do not apply, each written as "From
   * to To", with its reason. An example is an interface whose factory method creates the
   * implementation.
   */
  protected Map<String, String> exemptDependencies() {
    return Map.of();
  }

  /** The groups of types that depend on each other, each with its reason. */
  protected Map<Set<String>, String> cycles() {
    return Map.of();
  }

  /** The public internal types that only tests of other modules use. */
  protected Set<String> typesUsedByTestsOfOtherModules() {
    return Set.of();
  }

  /** The number of files of each package that has more than 25. */
  protected Map<String, Integer> largePackages() {
    return Map.of();
  }

  // ---- layers

  @Test
  void dependenciesGoToLowerLayersOnly() {
    var upwardDependencies = new TreeSet<String>();

    eachDependency((from, to, text) -> {
      if (!isExempt(from, to) && !sectionOf(from).equals(sectionOf(to))
          && heightOf(sectionOf(to)) >= heightOf(sectionOf(from)))
        upwardDependencies.add(text);
    });

    assertEquals(Set.of(), upwardDependencies);
  }

  private int heightOf(String section) {
    for (int i = 0; i < layers().size(); i++) if (layers().get(i).contains(section)) return i;
    throw new AssertionError("package " + section + " has no layer; add it to layers()");
  }

  /** Returns the name under which {@link #layers} lists the type: its package, or its own name. */
  private String sectionOf(JavaClass type) {
    String name = outermost(type).getName();
    return layers().stream().anyMatch(layer -> layer.contains(name)) ? name : type.getPackageName();
  }

  /** Called for each dependency between two types of the module. */
  @FunctionalInterface
  protected interface DependencyAction {
    void accept(JavaClass from, JavaClass to, String text);
  }

  /** Calls the action for each dependency of a type of the module on a type of the module. */
  protected static void eachDependency(DependencyAction action) {
    for (var type : MAIN) for (var dependency : type.getDirectDependenciesFromSelf()) {
      var target = dependency.getTargetClass().getBaseComponentType();
      if (MAIN.contain(target.getName()) && !type.getSimpleName().equals("package-info"))
        action.accept(type, target, dependency.getDescription());
    }
  }

  protected static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureRules::outermost).orElse(type);
  }

  private boolean isExempt(JavaClass from, JavaClass to) {
    return exemptDependencies().containsKey(describe(from, to));
  }

  private static String describe(JavaClass from, JavaClass to) {
    return outermost(from).getSimpleName() + " to " + outermost(to).getSimpleName();
  }

  @Test
  void exemptDependenciesExistInCode() {
    var dependencies = new TreeSet<String>();
    eachDependency((from, to, text) -> dependencies.add(describe(from, to)));

    assertEquals(List.of(),
        exemptDependencies().keySet().stream().filter(name -> !dependencies.contains(name)).toList());
  }

  // ---- packages, and the picture of them

  @Test
  void packagesWithTooManyFilesMatchExemptions() {
    var files = new TreeMap<String, Set<String>>();
    for (var type : MAIN) if (!type.getSimpleName().equals("package-info"))
      files.computeIfAbsent(type.getPackageName(), name -> new TreeSet<>()).add(outermost(type).getSimpleName());
    var largePackages = new TreeMap<String, Integer>();
    files.forEach((name, types) -> {
      if (types.size() > MAX_FILES) largePackages.put(name, types.size());
    });

    assertEquals(new TreeMap<>(largePackages()), largePackages);
  }

  /**
   * Checks the diagram of the module in docs/architecture.md: an arrow for each dependency between
   * packages that does not follow from other dependencies.
   */
  @Test
  void architectureDiagramMatchesPackageDependencies() throws IOException {
    if (layers().size() < 2) return;
    var document = fromRoot("docs/architecture.md");
    var text = Files.readString(document);
    var diagram = Pattern.compile("(?ms)^```mermaid\n(---\ntitle: " + MODULE + "\n---\n.*?)^```$").matcher(text);
    var documentedDiagram = diagram.results().map(match -> match.group(1)).findFirst()
        .orElseThrow(() -> new AssertionError(document + " has no diagram with the title " + MODULE));
    var codeDiagram = diagramOf(dependencies());

    if (Boolean.getBoolean("fibry.draw")) Files.writeString(document, text.replace(documentedDiagram, codeDiagram));
    else assertEquals(codeDiagram, documentedDiagram, "to update the diagram of docs/architecture.md: mvn -pl "
        + fromRoot("").relativize(Path.of("").toAbsolutePath())
        + " -am test -Dtest=ArchitectureTest -Dfibry.draw=true");
  }

  @Test
  void architectureDocumentNamesEachPackage() throws IOException {
    if (layers().size() < 2) return;
    var text = Files.readString(fromRoot("docs/architecture.md"));

    assertEquals(List.of(),
        layers().stream().flatMap(Set::stream).filter(name -> !text.contains("`" + name + "`")).toList());
  }

  private static Path fromRoot(String path) {
    var folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("CONTRIBUTING.md"))) folder = folder.getParent();
    return folder.resolve(path);
  }

  private Map<String, Set<String>> dependencies() {
    var dependencies = new TreeMap<String, Set<String>>();
    eachDependency((from, to, text) -> {
      if (!sectionOf(from).equals(sectionOf(to)) && !isExempt(from, to))
        dependencies.computeIfAbsent(sectionOf(from), name -> new TreeSet<>()).add(sectionOf(to));
    });
    return dependencies;
  }

  private static String diagramOf(Map<String, Set<String>> dependencies) {
    var diagram = new StringBuilder("---\ntitle: " + MODULE + "\n---\nflowchart TD\n");
    dependencies.forEach((from, targets) -> {
      for (var to : targets)
        if (targets.stream().noneMatch(target -> reaches(dependencies, target, to, new HashSet<>())))
          diagram.append("  ").append(simpleName(from)).append(" --> ").append(simpleName(to)).append('\n');
    });
    return diagram.toString();
  }

  private static boolean reaches(Map<String, Set<String>> dependencies, String from, String to, Set<String> visited) {
    return dependencies.getOrDefault(from, Set.of()).stream()
        .anyMatch(next -> next.equals(to) || visited.add(next) && reaches(dependencies, next, to, visited));
  }

  private static String simpleName(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  // ---- the types that users see

  @Test
  void exportedPublicTypesMatchExpectedTypes() throws IOException {
    var exportedPackages = exportedPackages();

    var types = MAIN.stream().filter(type -> isPublic(type) && type.isTopLevelClass())
        .filter(type -> exportedPackages.contains(type.getPackageName())).collect(Collectors.groupingBy(
            JavaClass::getPackageName, TreeMap::new,
            Collectors.mapping(JavaClass::getSimpleName, Collectors.toCollection(TreeSet::new))));

    var expectedTypes = new TreeMap<String, Set<String>>();
    publicTypes().forEach((name, names) -> expectedTypes.put(name, new TreeSet<>(names)));
    assertEquals(expectedTypes.toString(), types.toString());
    assertEquals(new TreeSet<>(publicTypes().keySet()), new TreeSet<>(exportedPackages));
  }

  private static Set<String> exportedPackages() throws IOException {
    return exportedPackages("exports ([\\w.]+);");
  }

  /** Returns the packages whose exports match the pattern; without module-info, all packages. */
  private static Set<String> exportedPackages(String pattern) throws IOException {
    var moduleInfo = Path.of("src/main/java/module-info.java");
    if (!Files.exists(moduleInfo)) return MAIN.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    return Pattern.compile(pattern).matcher(Files.readString(moduleInfo)).results()
        .map(match -> match.group(1)).collect(Collectors.toSet());
  }

  @Test
  void signaturesOfExportedTypesNameExportedTypes() {
    var violations = new TreeSet<String>();

    for (var type : MAIN) {
      if (!publicTypes().containsKey(type.getPackageName()) || !isVisible(type)) continue;
      for (var member : type.getMembers()) {
        if (!isPublic(member) && !member.getModifiers().contains(JavaModifier.PROTECTED)) continue;
        for (var involvedType : member.getAllInvolvedRawTypes())
          if (MAIN.contain(involvedType.getName()) && !publicTypes().containsKey(involvedType.getPackageName()))
            violations.add(member.getFullName() + " names " + involvedType.getName());
      }
    }

    assertEquals(Set.of(), violations);
  }

  private static boolean isVisible(JavaClass type) {
    return isPublic(type) && type.getEnclosingClass().map(ArchitectureRules::isVisible).orElse(true);
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static boolean isPublic(JavaMember member) {
    return member.getModifiers().contains(JavaModifier.PUBLIC);
  }

  // ---- internal types

  /** Tests in another package count as users, too. */
  @Test
  void internalTypesArePublicOnlyIfOtherPackagesUseThem() throws IOException {
    var needlessNames = new TreeSet<String>();
    var exportedPackages = exportedPackages("exports ([\\w.]+)(?: to|;)");

    for (var type : MAIN) {
      if (exportedPackages.contains(type.getPackageName()) || type.isInterface() || !isPublic(type)) continue;
      if (type.isTopLevelClass() && isUnused(type) && !typesUsedByTestsOfOtherModules().contains(type.getName()))
        needlessNames.add(type.getName());
      for (var member : type.getMembers())
        if (isPublic(member) && isNeedlesslyPublic(member)) needlessNames.add(member.getFullName());
    }

    assertEquals(Set.of(), needlessNames, "make them package-private");
  }

  /** Returns whether other packages use neither the top-level type nor its nested types. */
  private static boolean isUnused(JavaClass type) {
    return MAIN_AND_TESTS.stream().filter(used -> outermost(used).equals(type))
        .flatMap(used -> used.getDirectDependenciesToSelf().stream())
        .allMatch(use -> use.getOriginClass().getPackageName().equals(type.getPackageName()));
  }

  /**
   * Returns whether a public member is used in its own package only. Returns false for members of
   * records and enums, for members that the compiler creates, and for overriding methods. Returns
   * false for constants, too, because the compiler copies them to their users.
   */
  private static boolean isNeedlesslyPublic(JavaMember member) {
    var owner = member.getOwner();
    if (owner.isRecord() || owner.isEnum() || member.getModifiers().contains(JavaModifier.SYNTHETIC)
        || member.getName().equals("<clinit>"))
      return false;
    if (member.getModifiers().containsAll(Set.of(JavaModifier.STATIC, JavaModifier.FINAL))
        && member instanceof JavaField field
        && (field.getRawType().isPrimitive() || field.getRawType().isEquivalentTo(String.class)))
      return false;
    boolean used = member.getAccessesToSelf().stream()
        .anyMatch(use -> !use.getOriginOwner().getPackageName().equals(owner.getPackageName()));
    return !used && !(member instanceof JavaMethod method && overrides(method));
  }

  private static boolean overrides(JavaMethod method) {
    var supertypes = Stream.concat(method.getOwner().getAllRawSuperclasses().stream(),
        method.getOwner().getAllRawInterfaces().stream());
    return supertypes.anyMatch(type -> type.tryGetMethod(method.getName(),
        method.getRawParameterTypes().stream().map(JavaClass::getName).toArray(String[]::new)).isPresent()
        || type.getMethods().stream().anyMatch(candidate -> candidate.getName().equals(method.getName())
            && candidate.getRawParameterTypes().size() == method.getRawParameterTypes().size()));
  }

  @Test
  void typeNamesContainNoVagueWords() {
    assertEquals(List.of(), MAIN.stream().filter(type -> type.getPackageName().startsWith("io.fibry"))
        .map(JavaClass::getSimpleName)
        .filter(name -> name.matches(".*(Impl|Base|Util|Utils|Manager|Helper)|Abstract.*|I[A-Z][a-z].*")).toList());
  }

  // ---- cycles

  @Test
  void dependencyCyclesMatchPermittedCycles() {
    var dependencies = new TreeMap<String, Set<String>>();
    eachDependency((from, to, text) -> {
      if (!outermost(from).equals(outermost(to)) && !isExempt(from, to))
        dependencies.computeIfAbsent(outermost(from).getName(), name -> new TreeSet<>()).add(outermost(to).getName());
    });

    var cycles = new CycleFinder(dependencies).findCycles().stream()
        .map(cycle -> new TreeSet<>(cycle.stream().map(ArchitectureRules::simpleName).toList()).toString())
        .collect(Collectors.toCollection(TreeSet::new));

    assertEquals(String.join("\n", cycles().keySet().stream().map(cycle -> new TreeSet<>(cycle).toString())
        .collect(Collectors.toCollection(TreeSet::new))), String.join("\n", cycles));
  }

  /** Uses Tarjan's algorithm to find strongly connected components that have more than one type. */
  private record CycleFinder(Map<String, Set<String>> dependencies, Map<String, Integer> numbers, List<String> stack,
      Set<Set<String>> cycles) {
    CycleFinder(Map<String, Set<String>> dependencies) {
      this(dependencies, new HashMap<>(), new java.util.ArrayList<>(), new java.util.HashSet<>());
    }

    Set<Set<String>> findCycles() {
      dependencies.keySet().forEach(this::visit);
      return cycles;
    }

    /**
     * Visits the type. Returns the lowest number among the types that it reaches and that are on
     * the stack.
     */
    private int visit(String type) {
      var knownNumber = numbers.get(type);
      if (knownNumber != null) return stack.contains(type) ? knownNumber : Integer.MAX_VALUE;
      int number = numbers.size();
      numbers.put(type, number);
      int componentStart = stack.size();
      stack.add(type);
      int lowest = number;
      for (var dependency : dependencies.getOrDefault(type, Set.of())) lowest = Math.min(lowest, visit(dependency));
      if (lowest == number) {
        var component = stack.subList(componentStart, stack.size());
        if (component.size() > 1) cycles.add(Set.copyOf(component));
        component.clear();
      }
      return lowest;
    }
  }
}
