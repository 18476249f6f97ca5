# Installation and packages. packaging/package builds them: a Debian package and two archives.
# Components: cli (the command line and the data), window (the window and its place on the desktop), python.
include(GNUInstallDirs)
set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT cli)
install(FILES packaging/shardscape.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT window)
install(FILES packaging/org.shardscape.Shardscape.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo
  COMPONENT window)
install(FILES packaging/shardscape.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
  RENAME shardscape.xml COMPONENT window)
install(FILES resources/icons/shardscape.svg DESTINATION ${icons}/scalable/apps COMPONENT window)

# Icons in the sizes of the desktop, where rsvg-convert is installed (Debian: librsvg2-bin).
find_program(RSVG_CONVERT rsvg-convert)
if(RSVG_CONVERT)
  foreach(size 16 22 24 32 48 64 128 256 512)
    set(icon ${CMAKE_BINARY_DIR}/icons/${size}/shardscape.png)
    add_custom_command(OUTPUT ${icon} DEPENDS ${CMAKE_SOURCE_DIR}/resources/icons/shardscape.svg
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/icons/${size}
      COMMAND ${RSVG_CONVERT} -w ${size} -h ${size} -o ${icon} ${CMAKE_SOURCE_DIR}/resources/icons/shardscape.svg)
    list(APPEND icon_files ${icon})
    install(FILES ${icon} DESTINATION ${icons}/${size}x${size}/apps COMPONENT window)
  endforeach()
  add_custom_target(shardscape_icons ALL DEPENDS ${icon_files})
endif()

# program_text(COMPONENT FILE PAGE): the program writes a text of its own; FILE.gz is compressed.
function(program_text component file page)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
    string(REGEX REPLACE \"\\\\.gz$\" \"\" plain \"\${file}\")
    get_filename_component(folder \"\${plain}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \${CMAKE_COMMAND} -E env SHARDSCAPE_DATA=${CMAKE_SOURCE_DIR}
        XDG_DATA_HOME=${CMAKE_BINARY_DIR}/no-own-files
      $<TARGET_FILE:shardscape-cli> reference ${page} OUTPUT_FILE \"\${plain}\" COMMAND_ERROR_IS_FATAL ANY)
    if(NOT file STREQUAL plain)
      execute_process(COMMAND gzip -9nf \"\${plain}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT ${component})
endfunction()
program_text(cli ${CMAKE_INSTALL_MANDIR}/man1/shardscape-cli.1.gz man)
program_text(window ${CMAKE_INSTALL_MANDIR}/man1/shardscape.1.gz man-window)
program_text(cli ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/shardscape-cli completion-bash)
program_text(window ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/shardscape completion-bash)
program_text(cli ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions/_shardscape-cli completion-zsh)
program_text(cli ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/shardscape-cli.fish completion-fish)
program_text(window ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/shardscape.fish completion-fish)
install(CODE "
  set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/changelog\")
  configure_file(${CMAKE_SOURCE_DIR}/CHANGELOG.md \"\${file}\" COPYONLY)
  execute_process(COMMAND gzip -9nf \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT cli)

set(CPACK_PACKAGE_NAME shardscape)
set(CPACK_PACKAGE_CONTACT "Shardscape maintainers <maintainers@shardscape.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PACKAGE_DEPENDS qt6-qpa-plugins)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, python3-numpy, qt6-wayland")
include(CPack)
